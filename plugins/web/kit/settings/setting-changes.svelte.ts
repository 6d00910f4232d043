import { FormState } from "../form.svelte.ts";
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
  readonly #refresh: () => Promise<unknown>;

  readonly isChanged = $derived(Object.keys(this.#changes).length > 0);

  /** `refresh` reads what follows from the settings, at first and after each save. */
  constructor(refresh: () => Promise<unknown>) {
    this.#refresh = refresh;
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
  }

  /** Takes typed text, in the form that the stored value has. */
  changeText(name: string, typed: string): void {
    const stored = this.#stored.get(name)?.value;
    this.change(name, typeof stored === "number" && typed.trim() !== "" ? Number(typed) : typed);
  }

  discard(): void {
    this.#changes = {};
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
      // Tools of chats come and go with these settings.
      await Promise.all([this.#refresh(), session.load(), tools.refresh()]);
    }
    return isSaved;
  }

  #take(settings: readonly Setting[]): void {
    this.#stored = new Map(settings.map((setting) => [setting.name, setting]));
  }
}
