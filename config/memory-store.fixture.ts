import { isDeepStrictEqual } from "node:util";
import { SettingsChanged } from "./registry.ts";
import type { SettingStore, StoredSetting } from "./registry.ts";

/** A store in memory that several registries can share, as processes share the database; it notes what it was asked. */
export function createMemoryStore(initial: Record<string, unknown> = {}) {
  let tick = 1_700_000_000;
  const rows = new Map<string, StoredSetting>();
  const saved: { keys: string[]; by: string | null }[] = [];
  const put = (key: string, value: unknown, by: string | null) =>
    // Through JSON, as a database column would take it.
    rows.set(key, {
      key,
      value: JSON.parse(JSON.stringify(value)),
      updatedAt: tick,
      updatedBy: by,
      version: tick++,
    });
  for (const [key, value] of Object.entries(initial)) {
    put(key, value, null);
  }
  const store: SettingStore = {
    load: async (keys) => [...rows.values()].filter((row) => !keys || keys.includes(row.key)),
    save: async (entries, by) => {
      saved.push({ keys: entries.map((entry) => entry.key), by });
      entries.forEach((entry) => put(entry.key, entry.value, by));
    },
    remove: async (keys) => {
      for (const key of keys === "all" ? [...rows.keys()] : keys) {
        rows.delete(key);
      }
    },
    change: async ({ save, remove, seen, by }, within) => {
      const stale = [...seen].filter(([key, version]) => (rows.get(key)?.version ?? 0) !== version);
      if (stale.length > 0) {
        throw new SettingsChanged(stale.map(([key]) => key));
      }
      await within(undefined);
      if (save.length > 0) {
        await store.save([...save], by);
      }
      await store.remove(remove);
    },
    rewrite: async (changes) => {
      for (const { key, before, after } of changes) {
        const row = rows.get(key);
        if (row && isDeepStrictEqual(row.value, before)) {
          rows.set(key, { ...row, value: after });
        }
      }
    },
  };
  const stored = () => Object.fromEntries([...rows.values()].map((row) => [row.key, row.value]));
  return { store, saved, stored, put };
}
