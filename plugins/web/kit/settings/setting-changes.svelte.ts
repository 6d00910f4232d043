import { FormState } from "../form.svelte.ts";
import { guardLeaving } from "../guard-leaving.svelte.ts";
import { server } from "../server.ts";
import { session } from "../stores/session.svelte.ts";
import { tools } from "../stores/tools.svelte.ts";

type Setting = Awaited<ReturnType<typeof readSettings>>[number];

const readSettings = () => server.call("GET /api/v1/configs/settings");

/** Settings of the instance on a page of their own: what is stored, and what was changed here and is not stored yet. */
export class SettingChanges {
  state = $state<"loading" | "ready" | "failed">("loading");
  failure = $state<string>();
  readonly form = new FormState();
  #stored = $state.raw<ReadonlyMap<string, Setting>>(new Map());
  #changes = $state.raw<Readonly<Record<string, unknown>>>({});
  /** Texts as they are being typed: a comma or a point at the end is no part of a value yet. */
  #typed = $state.raw<Readonly<Record<string, string>>>({});
  readonly #refresh: () => Promise<unknown>;

  readonly isChanged = $derived(Object.keys(this.#changes).length > 0);

  /** `refresh` reads what follows from the settings, at first and after each save. Made while a component is set up. */
  constructor(refresh: () => Promise<unknown>) {
    this.#refresh = refresh;
    guardLeaving(() => this.isChanged);
  }

  async load(): Promise<void> {
    this.state = "loading";
    try {
      const [settings] = await Promise.all([readSettings(), this.#refresh()]);
      this.#take(settings);
      this.state = "ready";
    } catch (error) {
      this.failure = (error as Error).message;
      this.state = "failed";
    }
  }

  /** A secret that is stored reads as empty: see `isKept`. */
  value(name: string): unknown {
    const stored = this.#stored.get(name);
    return Object.hasOwn(this.#changes, name) ? this.#changes[name] : stored?.secret ? "" : stored?.value;
  }

  /** Lists by commas, JSON as text. */
  text(name: string): string {
    const typed = this.#typed[name];
    if (typed !== undefined) {
      return typed;
    }
    const value = this.value(name);
    if (Array.isArray(value) && value.every((each) => typeof each === "string")) {
      return value.join(", ");
    }
    return typeof value === "object" && value !== null ? JSON.stringify(value) : String(value ?? "");
  }

  isOn(name: string): boolean {
    return this.value(name) === true;
  }

  isSecret(name: string): boolean {
    return this.#stored.get(name)?.secret === true;
  }

  /** True for a secret that is stored and stays. */
  isKept(name: string): boolean {
    const stored = this.#stored.get(name);
    return stored?.secret === true && stored.value !== "" && !Object.hasOwn(this.#changes, name);
  }

  isLocked(name: string): boolean {
    const stored = this.#stored.get(name);
    return stored === undefined || stored.read_only || stored.locked !== null;
  }

  change(name: string, value: unknown): void {
    const { [name]: _, ...others } = this.#changes;
    const stored = this.#stored.get(name);
    const isAsStored = stored?.secret
      ? value === ""
      : JSON.stringify(stored?.value) === JSON.stringify(value);
    this.#changes = isAsStored ? others : { ...others, [name]: value };
    const { [name]: _typed, ...othersTyped } = this.#typed;
    this.#typed = othersTyped;
  }

  /** Takes typed text, in the form that the stored value has, or in the one that `parse` gives it. */
  changeText(name: string, typed: string, parse = this.#parserOf(name)): void {
    this.change(name, parse(typed));
    this.#typed = { ...this.#typed, [name]: typed };
  }

  #parserOf(name: string): (typed: string) => unknown {
    const isNumber = typeof this.#stored.get(name)?.value === "number";
    return (typed) => (isNumber && typed.trim() !== "" ? Number(typed) : typed);
  }

  discard(): void {
    this.#changes = {};
    this.#typed = {};
    this.form.clear();
  }

  /** Stores every change at once, or none. */
  async save(): Promise<boolean> {
    const changes = Object.entries(this.#changes).map(([name, value]) => ({
      name,
      value,
      version: this.#stored.get(name)?.version ?? 0,
    }));
    const isSaved = await this.form.submit(async () => {
      this.#take(await server.call("PATCH /api/v1/configs/settings", { body: { changes } }));
    });
    if (isSaved) {
      this.#changes = {};
      this.#typed = {};
      // Tools of chats come and go with these settings.
      await Promise.all([this.#refresh(), session.load(), tools.refresh()]);
    }
    return isSaved;
  }

  #take(settings: readonly Setting[]): void {
    this.#stored = new Map(settings.map((setting) => [setting.name, setting]));
  }
}
