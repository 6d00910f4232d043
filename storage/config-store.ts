import type { Kysely } from "kysely";
import type { SettingStore, StoredSetting } from "#config/setting.ts";
import { seconds } from "./clock.ts";
import type { CoreTables } from "./core-tables.ts";
import type { Database } from "./handle.ts";
import { notifyWith } from "./notify.ts";
import { toJson } from "./values.ts";

/** Announced with `{keys}` whenever stored settings change. */
export const CONFIG_CHANNEL = "config";

/** Settings in the `config` table. Changes are announced to every process when they are committed, not before. */
export function createConfigStore(database: Database): SettingStore {
  const db = database.db as Kysely<CoreTables>;
  return {
    async load(keys) {
      if (keys?.length === 0) {
        return [];
      }
      const query = db.selectFrom("config").selectAll().orderBy("key");
      const rows = await (keys ? query.where("key", "in", keys) : query).execute();
      return rows.map((row): StoredSetting => ({
        key: row.key,
        value: row.value,
        updatedAt: row.updated_at,
        updatedBy: row.updated_by,
      }));
    },
    async save(entries, by) {
      // One row per key, the last value given; in one order, so that two writers cannot wait for each other.
      const values = new Map(entries.map(({ key, value }) => [key, value]));
      const keys = [...values.keys()].toSorted();
      if (keys.length === 0) {
        return;
      }
      const rows = keys.map((key) => ({
        key,
        value: toJson(values.get(key)),
        updated_at: seconds(),
        updated_by: by,
      }));
      await database.transaction(async (tx) => {
        await tx
          .insertInto("config")
          .values(rows)
          .onConflict((conflict) =>
            conflict.column("key").doUpdateSet((eb) => ({
              value: eb.ref("excluded.value"),
              updated_at: eb.ref("excluded.updated_at"),
              updated_by: eb.ref("excluded.updated_by"),
            })),
          )
          .execute();
        await announce(tx, keys);
      });
    },
    async remove(keys) {
      if (keys !== "all" && keys.length === 0) {
        return;
      }
      await database.transaction(async (tx) => {
        const query = tx.deleteFrom("config").returning("key");
        const removed = await (keys === "all" ? query : query.where("key", "in", keys)).execute();
        await announce(
          tx,
          removed.map(({ key }) => String(key)),
        );
      });
    },
    async rewrite(changes) {
      for (const { key, before, after } of changes) {
        await db
          .updateTable("config")
          .set({ value: toJson(after) })
          .where("key", "=", key)
          .where("value", "=", toJson(before))
          .execute();
      }
    },
  };
}

/** As many keys at a time as an announcement holds. */
// oxlint-disable-next-line typescript/no-explicit-any -- only announces, so the tables do not matter
async function announce(executor: Kysely<any>, keys: readonly string[]): Promise<void> {
  for (let start = 0; start < keys.length; start += KEYS_AT_ONCE) {
    await notifyWith(executor, CONFIG_CHANNEL, { keys: keys.slice(start, start + KEYS_AT_ONCE) });
  }
}

const KEYS_AT_ONCE = 50;
