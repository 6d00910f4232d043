import { tick } from "svelte";
import { TypedFields } from "../typed-fields.ts";

/** Marks a secret that is shown once, while nobody has copied it. */
const unkept = "[data-unkept]";

/** Holds what would be lost by leaving, and the question that is asked before it is. */
class Leaving {
  /** What goes on once the person agrees; undefined while nothing is asked. */
  pending = $state.raw<() => void>();
  /** Whether the question is about a secret that is shown once; else it is about words that were typed. */
  isSecret = $state(false);
  /** Fields of forms that stand on the page itself. */
  readonly fields = new TypedFields("form, [data-form]");
  /** Those of the page and of open dialogs. */
  readonly #watched = new Set([this.fields]);
  readonly #guards = new Set<() => boolean>();
  readonly #tabGuards = new Set<() => boolean>();

  constructor() {
    addEventListener("beforeunload", (event) => (this.isLossy || this.#isTabLossy) && event.preventDefault());
  }

  /** Asks before anything is left while `isLossy` answers true, until the returned function is called. */
  guard(isLossy: () => boolean): () => void {
    this.#guards.add(isLossy);
    return () => void this.#guards.delete(isLossy);
  }

  /** The same for values that outlive their page and go with the tab. */
  guardTab(isLossy: () => boolean): void {
    this.#tabGuards.add(isLossy);
  }

  get #isTabLossy(): boolean {
    return [...this.#tabGuards].some((isLossy) => isLossy());
  }

  /** Asks before the part of the page in which `fields` are is left, until the returned function is called. */
  watch(fields: TypedFields): () => void {
    const stop = this.guard(() => fields.isChanged);
    this.#watched.add(fields);
    return () => {
      stop();
      this.#watched.delete(fields);
    };
  }

  /** Told when a form was stored: its fields hold nothing that could be lost. */
  saved(): void {
    this.#watched.forEach((fields) => fields.forget());
  }

  get isLossy(): boolean {
    return (
      this.fields.isChanged ||
      document.querySelector(unkept) !== null ||
      [...this.#guards].some((isLossy) => isLossy())
    );
  }

  /** Runs `go`, after a question where something in `part` would be lost. */
  attempt(go: () => void, isLossy = this.isLossy, part: ParentNode = document): void {
    const isSecret = part.querySelector(unkept) !== null;
    if (isLossy || isSecret) {
      this.isSecret = isSecret;
      this.pending = go;
    } else {
      go();
    }
  }

  /** What was asked about counts no longer. */
  async agree(): Promise<void> {
    const go = this.pending;
    this.pending = undefined;
    this.fields.forget();
    // The question gives the focus back before what it was asked about goes.
    await tick();
    go?.();
  }

  stay(): void {
    this.pending = undefined;
  }
}

export const leaving = new Leaving();
