import { plural, t } from "#plugins/web/kit/i18n/index.svelte.ts";
import { ApiError } from "#plugins/web/kit/client.ts";
import { server } from "#plugins/web/kit/server.ts";
import { leaving } from "#plugins/web/kit/stores/leaving.svelte.ts";
import { toasts } from "#plugins/web/kit/stores/toasts.svelte.ts";
import { readRaw, toRaw } from "./draft.ts";
import { isPassing, readSettings, type Setting } from "./setting.ts";

/** A change that is not saved. */
export interface Draft {
  readonly setting: Setting;
  /** What the control holds. */
  readonly raw: string | boolean;
  readonly value: unknown;
  /** Why it cannot be saved; undefined when it can. */
  readonly problem: string | undefined;
  /** The way back to the environment's value or the default. */
  readonly reset: boolean;
  /** The version that the change was made over. */
  readonly version: number;
}

interface Refusal {
  readonly type?: string;
  readonly loc?: readonly (string | number)[];
  readonly msg?: string;
}

/** All settings with the changes that are not saved; they outlive the page, so that nothing typed is lost. */
class SettingsForm {
  all = $state.raw<readonly Setting[]>();
  failure = $state<string>();
  drafts = $state.raw<Readonly<Record<string, Draft>>>({});
  /** What the server said of a setting when it refused. */
  refusals = $state.raw<Readonly<Record<string, string>>>({});
  saving = $state(false);
  /** The variable that kept the last save from going through, until its row is shown. */
  sought = $state<string>();
  readonly count = $derived(Object.keys(this.drafts).length);

  constructor() {
    leaving.guardTab(() => this.count > 0);
  }

  async load(): Promise<void> {
    try {
      this.all = await readSettings();
      this.failure = undefined;
    } catch (error) {
      this.failure = (error as Error).message;
    }
  }

  /** The settings of now after a change that somebody made. */
  take(settings: readonly Setting[]): void {
    this.all = settings;
  }

  write(setting: Setting, raw: string | boolean): void {
    const read = readRaw(setting, raw);
    // A draft that is taken up again stays over the version it began with.
    const version = this.drafts[setting.name]?.version ?? setting.version;
    const isSame = raw === toRaw(setting);
    this.#forget(setting.name);
    if (!isSame) {
      const draft =
        "value" in read
          ? { value: read.value, problem: undefined }
          : { value: undefined, problem: toWords(setting, read.problem) };
      this.drafts = { ...this.drafts, [setting.name]: { ...draft, setting, raw, reset: false, version } };
    }
  }

  /** Plans the way back to the environment's value or the default. */
  reset(setting: Setting): void {
    const value = setting.in_environment ? setting.environment_value : setting.default;
    const raw = toRaw({ ...setting, value });
    this.drafts = {
      ...this.drafts,
      [setting.name]: { setting, raw, value, problem: undefined, reset: true, version: setting.version },
    };
  }

  drop(name: string): void {
    this.#forget(name);
  }

  dropAll(): void {
    this.drafts = {};
    this.refusals = {};
  }

  /** The other administrator's change, when a setting changed since the draft began. */
  conflictOf(setting: Setting): Setting | undefined {
    const draft = this.drafts[setting.name];
    return draft !== undefined && draft.version !== setting.version ? setting : undefined;
  }

  /** Puts the draft over the change of somebody else. */
  keep(setting: Setting): void {
    const draft = this.drafts[setting.name];
    if (draft) {
      this.drafts = { ...this.drafts, [setting.name]: { ...draft, version: setting.version } };
      this.#clearRefusal(setting.name);
    }
  }

  /** Saves every draft, all or none. True when it went through. */
  async save(): Promise<boolean> {
    const drafts = Object.values(this.drafts);
    this.saving = true;
    this.refusals = {};
    try {
      const changes = drafts.map(({ setting: { name }, value, reset, version }) =>
        reset ? { name, reset, version } : { name, value, version },
      );
      this.all = await server.call("PATCH /api/v1/configs/settings", { body: { changes } });
      this.drafts = {};
      this.#offerUndo(drafts);
      return true;
    } catch (error) {
      await this.#tell(error);
      return false;
    } finally {
      this.saving = false;
    }
  }

  #offerUndo(drafts: readonly Draft[]): void {
    // The server does not tell secrets, so one cannot be written back.
    const before = drafts.filter(({ setting }) => !setting.secret);
    const back = before.map(({ setting }) =>
      setting.source === "stored" || isPassing(setting)
        ? { name: setting.name, value: setting.value }
        : { name: setting.name, reset: true },
    );
    toasts.show({
      kind: "good",
      text: plural(drafts.length, "{count} setting saved.", "{count} settings saved."),
      seconds: 10,
      ...(back.length === drafts.length && { action: { title: t("Undo"), run: () => this.#undo(back) } }),
    });
  }

  async #undo(changes: { name: string; value?: unknown; reset?: boolean }[]): Promise<void> {
    try {
      this.all = await server.call("PATCH /api/v1/configs/settings", { body: { changes } });
    } catch (error) {
      toasts.fail(error, t("The change could not be taken back."));
    }
  }

  async #tell(error: unknown): Promise<void> {
    const detail =
      error instanceof ApiError ? (error.body as { detail?: unknown } | null)?.detail : undefined;
    if (!Array.isArray(detail)) {
      toasts.fail(error, t("The settings could not be saved."));
      return;
    }
    const refusals = detail as Refusal[];
    if (refusals.some(({ type }) => type === "changed")) {
      // What the other one saved is shown beside the draft, which stays.
      await this.load();
      this.#reveal(refusals);
      return;
    }
    this.refusals = Object.fromEntries(
      refusals.map(({ loc = [], msg = "" }) => [String(loc.at(-1) ?? ""), msg]),
    );
    this.#reveal(refusals);
  }

  /** The page scrolls to the first of these and opens the list that it is in. */
  #reveal([first]: readonly Refusal[]): void {
    this.sought = String(first?.loc?.at(-1) ?? "");
  }

  #forget(name: string): void {
    const { [name]: _, ...rest } = this.drafts;
    this.drafts = rest;
    this.#clearRefusal(name);
  }

  #clearRefusal(name: string): void {
    const { [name]: _, ...rest } = this.refusals;
    this.refusals = rest;
  }
}

function toWords({ min, max }: Setting, problem: string): string {
  switch (problem) {
    case "whole":
      return t("Enter a whole number.");
    case "number":
      return t("Enter a number.");
    case "bounds":
      return max === null
        ? t("Enter at least {min}.", { min: min ?? 0 })
        : min === null
          ? t("Enter at most {max}.", { max })
          : t("Enter a number from {min} to {max}.", { min, max });
    default: {
      const [line = "1", column = "1"] = problem.split(":");
      return t("This is no JSON: mistake in line {line}, column {column}.", { line, column });
    }
  }
}

export const form = new SettingsForm();
