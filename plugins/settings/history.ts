import { isObject } from "#config/json-values.ts";
import type { ConfigRegistry } from "#config/registry.ts";
import { AppError } from "#kernel/errors.ts";
import type { AuditRecord } from "#plugins/audit/service.ts";
import type { Changes, Restore, SettingHistory, SettingRecord } from "./schema.ts";

/** The kept changes of a setting by its name, the latest first. */
export type HistoryOf = (name: string) => Promise<AuditRecord[]>;

export interface HistoryOptions {
  readonly configuration: ConfigRegistry;
  readonly history: HistoryOf;
  change(changes: Changes["changes"], by: string): Promise<SettingRecord[]>;
}

/** Creates the ways into the past of settings. */
export function createHistory({ configuration, history, change }: HistoryOptions) {
  const read = async (name: string): Promise<SettingHistory[]> => {
    const setting = configuration.describe().find((each) => each.name === name);
    if (setting === undefined) {
      throw new AppError("not_found", "Not found");
    }
    return (await history(name)).map((record) => ({
      id: record.id,
      changed_at: record.created_at,
      changed_by: record.actor_id,
      changed_by_name: record.actor_name,
      address: record.address,
      client: record.client,
      before: toSide(record.before),
      after: toSide(record.after),
      restorable: record.complete && !setting.secret,
    }));
  };
  return {
    history: read,
    async restore(name: string, { record, side, version }: Restore, by: string): Promise<SettingRecord[]> {
      const found = (await read(name)).find(({ id }) => id === record);
      if (found === undefined) {
        throw new AppError("not_found", "Not found");
      }
      if (!found.restorable) {
        throw new AppError("invalid", "Secrets are not kept in the history. Enter the value again.");
      }
      const { value, source } = found[side];
      // What was not stored came from the environment or was the default, and comes from there again.
      return await change([{ name, value, reset: source !== "stored", version }], by);
    },
  };
}

function toSide(kept: unknown): SettingHistory["before"] {
  const { value = null, source = "default" } = isObject(kept) ? kept : {};
  return { value, source: source as SettingHistory["before"]["source"] };
}
