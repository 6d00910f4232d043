import type { SystemEventName } from "#kernel/system-event-names.ts";
import { isObject } from "#config/json-values.ts";
import type { ConfigRegistry, Setting } from "#config/registry.ts";
import { AppError } from "#kernel/errors.ts";
import { toNotices } from "./notices.ts";
import { createHistory, type HistoryOf } from "./history.ts";
import { explainConflict } from "./conflict.ts";
import type { Changes, ImportPreview, Restore, SettingHistory, SettingRecord } from "./schema.ts";

export interface SettingsOptions {
  /** Title of a plugin by its id. */
  titleOf(owner: string): string;
  /** The kept changes of a setting. */
  readonly history: HistoryOf;
  readonly configuration: ConfigRegistry;
  /** Names of accounts that exist, by id. */
  names(ids: readonly string[]): Promise<Map<string, { readonly name: string }>>;
  /** Announces a system event (appendix A10). */
  announce(
    event: Extract<SystemEventName, `config.${string}`>,
    by: string,
    data: Record<string, unknown>,
  ): void;
}

/** All variables with where their values come from, and the ways to change them. */
export interface Settings {
  /** Every variable by name; secrets are masked. */
  list(): Promise<SettingRecord[]>;
  /** Sets variables by name, all or none. Throws `unprocessable` naming the one that is refused. */
  set(values: Readonly<Record<string, unknown>>, by: string): Promise<SettingRecord[]>;
  /**
   * Sets and forgets values, all or none. Throws `unprocessable` naming all that are refused, `conflict` with the
   * changes of others since the versions that were seen.
   */
  change(changes: Changes["changes"], by: string): Promise<SettingRecord[]>;
  /** The kept changes, the latest first. Throws `not_found`. */
  history(name: string): Promise<SettingHistory[]>;
  /** Brings a kept value back. Throws `not_found`, `invalid` for one with masked secrets. */
  restore(name: string, which: Restore, by: string): Promise<SettingRecord[]>;
  /** Forgets the stored value. Throws `not_found` for an unknown name, `unprocessable` for one that cannot change. */
  reset(name: string, by: string): Promise<SettingRecord>;
  /** Persisted values in force by key, without secrets. */
  export(): Record<string, unknown>;
  /** Takes flat or nested keys, all or none; resolves to what was taken and what no plugin here knows. */
  import(
    config: Readonly<Record<string, unknown>>,
    by: string,
  ): Promise<{ imported: string[]; ignored: string[] }>;
  /** What `import` would do; changes nothing. */
  preview(config: Readonly<Record<string, unknown>>): ImportPreview;
  /** Persisted values below a key prefix such as `ui`, without secrets. */
  namespace(prefix: string): Record<string, unknown>;
}

/** Creates the logic behind `/configs/settings`, `/export`, `/import` and `/namespace`. */
export function createSettings(options: SettingsOptions): Settings {
  const { configuration, names, announce, titleOf } = options;
  const list = async () => {
    const settings = configuration.describe();
    const people = await names([...new Set(settings.flatMap(({ changedBy }) => changedBy ?? []))]);
    return settings.map((setting) => toRecord(setting, { people, titleOf }));
  };
  const change = async (changes: Changes["changes"], by: string) => {
    requireFit(configuration, changes);
    const wishes = changes.map(({ name, value, reset, version }) =>
      reset ? { name, reset: true as const, seen: version } : { name, value, seen: version },
    );
    await configuration.change(wishes, by).catch(async (error: unknown) => {
      throw await explainConflict(error, list);
    });
    announce("config.updated", by, { names: changes.map(({ name }) => name) });
    return await list();
  };
  const keyed = () =>
    configuration.describe().filter(({ key, persisted, secret }) => key !== null && persisted && !secret);
  const byKey = (settings: Setting[]) =>
    Object.fromEntries(settings.map(({ key, value }) => [key as string, value]));
  return {
    list,
    change,
    ...createHistory({ ...options, change }),
    async set(values, by) {
      await configuration.set(values, by);
      announce("config.updated", by, { names: Object.keys(values) });
      return await list();
    },
    async reset(name, by) {
      const found = () => configuration.describe().find((setting) => setting.name === name);
      if (found() === undefined) {
        throw new AppError("not_found", "Not found");
      }
      await configuration.reset([name], by);
      announce("config.updated", by, { names: [name] });
      return toRecord(found() as Setting, { people: await names([]), titleOf });
    },
    export: () => byKey(keyed()),
    async import(config, by) {
      const { values, imported, ignored } = toValues(configuration, config);
      await configuration.set(withoutHeld(configuration, values), by);
      announce("config.imported", by, { keys: imported });
      return { imported, ignored };
    },
    preview: (config) => toPreview(configuration, config),
    namespace: (prefix) => byKey(keyed().filter(({ key }) => key?.startsWith(`${prefix}.`))),
  };
}

interface Taken {
  readonly values: Record<string, unknown>;
  readonly imported: string[];
  readonly ignored: string[];
}

/** Finds the variables behind keys. Former exports are nested, so an object below no key is looked into. */
function toValues(configuration: ConfigRegistry, config: Readonly<Record<string, unknown>>): Taken {
  const taken: Taken = { values: {}, imported: [], ignored: [] };
  const visit = (path: string, value: unknown) => {
    const setting = configuration.byKey(path);
    if (setting !== undefined) {
      taken.values[setting.name] = value;
      taken.imported.push(path);
    } else if (isObject(value) && path.split(".").length < 8) {
      Object.entries(value).forEach(([key, inner]) => visit(`${path}.${key}`, inner));
    } else {
      taken.ignored.push(path);
    }
  };
  Object.entries(config).forEach(([key, value]) => visit(key, value));
  return taken;
}

/** Read-only values that are what they are already: an export of this instance holds them too. */
function withoutHeld(configuration: ConfigRegistry, values: Taken["values"]): Taken["values"] {
  const fixed = new Set(configuration.describe().flatMap(({ name, readOnly }) => (readOnly ? [name] : [])));
  return Object.fromEntries(
    Object.entries(values).filter(([name, given]) => {
      const found = fixed.has(name) ? configuration.preview(name, given) : undefined;
      return found === undefined || "problem" in found || found.isChange;
    }),
  );
}

/** All that is wrong at once: whoever filled in a form wants to mend it once. */
function requireFit(configuration: ConfigRegistry, changes: Changes["changes"]): void {
  const problems = changes.flatMap(({ name, value, reset }) => {
    const found = reset ? undefined : configuration.preview(name, value);
    return found && "problem" in found
      ? [{ type: "value_error", loc: ["body", name], msg: found.problem, input: null }]
      : [];
  });
  if (problems.length > 0) {
    throw new AppError("unprocessable", problems);
  }
}

function toPreview(configuration: ConfigRegistry, config: Readonly<Record<string, unknown>>): ImportPreview {
  const { values, imported, ignored } = toValues(configuration, config);
  const preview: ImportPreview = { changes: [], unchanged: [], refused: [], ignored };
  for (const key of imported) {
    const { name, value: before } = configuration.byKey(key) as Setting;
    const found = configuration.preview(name, values[name]);
    if ("problem" in found) {
      preview.refused.push({ key, name, reason: found.problem });
    } else if (found.isChange) {
      preview.changes.push({ key, name, before, after: found.value });
    } else {
      preview.unchanged.push(key);
    }
  }
  return preview;
}

function toRecord(
  setting: Setting,
  { people, titleOf }: { people: Map<string, { readonly name: string }> } & Pick<SettingsOptions, "titleOf">,
): SettingRecord {
  const { readOnly, changedBy, changedAt, environment, environmentDiffers, enterAgain, choices, ...rest } =
    setting;
  return {
    ...rest,
    choices: choices && [...choices],
    owner_title: titleOf(setting.owner),
    environment_value: environment ?? null,
    in_environment: environment !== undefined,
    environment_differs: environmentDiffers,
    enter_again: [...enterAgain],
    notices: toNotices(setting),
    read_only: readOnly,
    changed_by: changedBy,
    changed_by_name: changedBy === null ? null : (people.get(changedBy)?.name ?? null),
    changed_at: changedAt,
  };
}
