import { sql, type Kysely } from "kysely";
import { SettingsChanged, type SettingStore, type StoreChange, type StoredSetting } from "#config/setting.ts";
import { seconds } from "./clock.ts";
import type { CoreTables } from "./core-tables.ts";
import type { Database } from "./handle.ts";
import { notifyWith } from "./notify.ts";
import { toJson } from "./values.ts";

/** Announced with `{keys}` whenever stored settings change. */
export const CONFIG_CHANNEL = "config";

// oxlint-disable-next-line typescript/no-explicit-any -- transactions do not name their tables
type Executor = Kysely<any>;

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
        version: row.version,
      }));
    },
    async save(entries, by) {
      await database.transaction((tx) => save(tx, entries, by));
    },
    async remove(keys) {
      await database.transaction((tx) => remove(tx, keys));
    },
    async change({ save: entries, remove: keys, seen, by }, within) {
      await database.transaction(async (tx) => {
        await requireSeen(tx, seen);
        await save(tx, entries, by);
        await remove(tx, keys);
        await within(tx);
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

async function save(tx: Executor, entries: StoreChange["save"], by: string | null): Promise<void> {
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
  await tx
    .insertInto("config")
    .values(rows)
    .onConflict((conflict) =>
      conflict.column("key").doUpdateSet((eb) => ({
        value: eb.ref("excluded.value"),
        updated_at: eb.ref("excluded.updated_at"),
        updated_by: eb.ref("excluded.updated_by"),
        version: eb.ref("excluded.version"),
      })),
    )
    .execute();
  await announce(tx, keys);
}

async function remove(tx: Executor, keys: readonly string[] | "all"): Promise<void> {
  if (keys !== "all" && keys.length === 0) {
    return;
  }
  const query = tx.deleteFrom("config").returning("key");
  const removed = await (keys === "all" ? query : query.where("key", "in", keys)).execute();
  await announce(
    tx,
    removed.map(({ key }) => String(key)),
  );
}

/** Throws SettingsChanged for rows of other versions. A row that is not there cannot be locked; its table can. */
async function requireSeen(tx: Executor, seen: ReadonlyMap<string, number>): Promise<void> {
  if (seen.size === 0) {
    return;
  }
  await sql`lock table config in share row exclusive mode`.execute(tx);
  const rows = await tx
    .selectFrom("config")
    .select(["key", "version"])
    .where("key", "in", [...seen.keys()])
    .execute();
  const versions = new Map(rows.map(({ key, version }) => [key, version]));
  const stale = [...seen].filter(([key, version]) => (versions.get(key) ?? 0) !== version);
  if (stale.length > 0) {
    throw new SettingsChanged(stale.map(([key]) => key));
  }
}

/** As many keys at a time as an announcement holds. */
async function announce(executor: Executor, keys: readonly string[]): Promise<void> {
  for (let start = 0; start < keys.length; start += KEYS_AT_ONCE) {
    await notifyWith(executor, CONFIG_CHANNEL, { keys: keys.slice(start, start + KEYS_AT_ONCE) });
  }
}

const KEYS_AT_ONCE = 50;
