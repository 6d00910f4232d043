import type { ConfigRegistry, Setting } from "#config/registry.ts";
import { AppError } from "#kernel/errors.ts";
import { toNotices } from "./notices.ts";
import type { SettingRecord } from "./schema.ts";

export interface SettingsOptions {
  readonly configuration: ConfigRegistry;
  /** Names of accounts that exist, by id. */
  names(ids: readonly string[]): Promise<Map<string, { readonly name: string }>>;
  /** Announces a system event (appendix A10). */
  announce(event: `config.${string}`, by: string, data: Record<string, unknown>): void;
}

/** All variables with where their values come from, and the ways to change them. */
export interface Settings {
  /** Every variable by name; secrets are masked. */
  list(): Promise<SettingRecord[]>;
  /** Sets variables by name, all or none. Throws `unprocessable` naming the one that is refused. */
  set(values: Readonly<Record<string, unknown>>, by: string): Promise<SettingRecord[]>;
  /** Forgets the stored value. Throws `not_found` for an unknown name, `unprocessable` for one that cannot change. */
  reset(name: string, by: string): Promise<SettingRecord>;
  /** Persisted values in force by key, without secrets. */
  export(): Record<string, unknown>;
  /** Takes flat or nested keys, all or none; resolves to what was taken and what no plugin here knows. */
  import(
    config: Readonly<Record<string, unknown>>,
    by: string,
  ): Promise<{ imported: string[]; ignored: string[] }>;
  /** Persisted values below a key prefix such as `ui`, without secrets. */
  namespace(prefix: string): Record<string, unknown>;
}

/** Creates the logic behind `/configs/settings`, `/export`, `/import` and `/namespace`. */
export function createSettings({ configuration, names, announce }: SettingsOptions): Settings {
  const list = async () => {
    const settings = configuration.describe();
    const people = await names([...new Set(settings.flatMap(({ changedBy }) => changedBy ?? []))]);
    return settings.map((setting) => toRecord(setting, people));
  };
  const keyed = () =>
    configuration.describe().filter(({ key, persisted, secret }) => key !== null && persisted && !secret);
  const byKey = (settings: Setting[]) =>
    Object.fromEntries(settings.map(({ key, value }) => [key as string, value]));
  return {
    list,
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
      return toRecord(found() as Setting, await names([]));
    },
    export: () => byKey(keyed()),
    async import(config, by) {
      const { values, imported, ignored } = toValues(configuration, config);
      await configuration.set(values, by);
      announce("config.imported", by, { keys: imported });
      return { imported, ignored };
    },
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

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function toRecord(setting: Setting, people: Map<string, { readonly name: string }>): SettingRecord {
  const { readOnly, changedBy, changedAt, environmentDiffers, enterAgain, ...rest } = setting;
  return {
    ...rest,
    environment_differs: environmentDiffers,
    enter_again: [...enterAgain],
    notices: toNotices(setting),
    read_only: readOnly,
    changed_by: changedBy,
    changed_by_name: changedBy === null ? null : (people.get(changedBy)?.name ?? null),
    changed_at: changedAt,
  };
}
