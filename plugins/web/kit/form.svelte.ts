import { ApiError } from "./client.ts";

/** One entry of a 422's `detail`. */
interface Problem {
  readonly loc?: readonly (string | number)[];
  readonly msg?: string;
}

/** The state of a form: busy, what is wrong as a whole, and what is wrong with a field by its name on the wire. */
export class FormState {
  busy = $state(false);
  failure = $state<string>();
  fields = $state.raw<Readonly<Record<string, string>>>({});

  /** Runs `send`; a refusal becomes the errors of the fields it names. True when it went through. */
  async submit(send: () => Promise<unknown>): Promise<boolean> {
    this.busy = true;
    this.clear();
    try {
      await send();
      return true;
    } catch (error) {
      this.#tell(error);
      return false;
    } finally {
      this.busy = false;
    }
  }

  clear(): void {
    this.failure = undefined;
    this.fields = {};
  }

  #tell(error: unknown): void {
    const detail =
      error instanceof ApiError ? (error.body as { detail?: unknown } | null)?.detail : undefined;
    if (Array.isArray(detail)) {
      const named = (detail as Problem[]).map(
        ({ loc = [], msg = "" }) => [String(loc.at(-1) ?? ""), msg] as const,
      );
      this.fields = Object.fromEntries(named);
      this.failure = named.map(([name, text]) => `${name}: ${text}`).join("; ");
    } else {
      this.failure = error instanceof Error ? error.message : String(error);
    }
  }
}
