import { tick } from "svelte";
import { ApiError } from "./client.ts";
import { t } from "./i18n/index.svelte.ts";
import { toProblems, toWords } from "./problems.ts";
import { leaving } from "./stores/leaving.svelte.ts";

/** The state of a form: busy, what is wrong as a whole, and what is wrong with a field by its name on the wire. */
export class FormState {
  busy = $state(false);
  failure = $state<string>();
  fields = $state.raw<Readonly<Record<string, string>>>({});
  /** The server named a field that the form does not show. */
  #isElsewhere = $state(false);

  /** Runs `send`; a refusal becomes the errors of the fields it names. True when it went through. */
  async submit(send: () => Promise<unknown>): Promise<boolean> {
    this.busy = true;
    this.clear();
    try {
      await send();
      leaving.saved();
      return true;
    } catch (error) {
      this.#tell(error);
      return false;
    } finally {
      this.busy = false;
    }
  }

  /** Error that stands at no field: forms show it once, beside the errors of fields. */
  get other(): string | undefined {
    return Object.keys(this.fields).length > 0 && !this.#isElsewhere ? undefined : this.failure;
  }

  /** Shows what is wrong with fields, by their names, without asking the server. */
  refuse(problems: Readonly<Record<string, string>>): void {
    this.fields = problems;
    this.failure = toWords(problems);
    void this.#point();
  }

  clear(): void {
    this.failure = undefined;
    this.fields = {};
    this.#isElsewhere = false;
  }

  #tell(error: unknown): void {
    const detail =
      error instanceof ApiError ? (error.body as { detail?: unknown } | null)?.detail : undefined;
    if (Array.isArray(detail)) {
      this.refuse(toProblems(detail));
    } else {
      this.failure = error instanceof Error ? error.message : String(error);
      void this.#point();
    }
  }

  /**
   * Brings the first field that is wrong into sight and gives it the caret; without one, what the form says. What stands
   * at its field is not said twice.
   */
  async #point(): Promise<void> {
    await tick();
    const root = [...document.querySelectorAll('[role="dialog"]')].at(-1) ?? document;
    const field = root.querySelector<HTMLElement>('[aria-invalid="true"]');
    const alerts = [...root.querySelectorAll('[role="alert"]')];
    const shown = new Set(alerts.map(({ textContent }) => textContent?.trim()));
    const problems = Object.values(this.fields);
    this.#isElsewhere = problems.some((text) => !shown.has(text.trim()));
    if (problems.length > 0 && !this.#isElsewhere) {
      this.failure = t("Fix the highlighted fields to save.");
    }
    (field ?? alerts[0])?.scrollIntoView({ block: "nearest" });
    field?.focus({ preventScroll: true });
  }
}
