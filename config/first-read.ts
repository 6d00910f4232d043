import type { Entries } from "./entries.ts";
import type { SettingStore } from "./setting.ts";

/** Brings all entries in line with what is stored; on a first launch it stores what the environment states. */
export async function readStored(
  entries: Entries,
  store: SettingStore,
  warn: (message: string) => void,
): Promise<void> {
  const rows = await store.load();
  entries.apply(rows, entries.changeable());
  for (const name of entries.unreadable()) {
    warn(`The secret of ${name} was stored with another WEBUI_SECRET_KEY; enter it again.`);
  }
  // Stored before there was a key to encrypt them with.
  const plain = entries.toSealed(rows);
  if (plain.length > 0) {
    await store.rewrite(plain);
    const keys = plain.map(({ key }) => key);
    entries.apply(
      await store.load(keys),
      keys.flatMap((key) => entries.findByKey(key) ?? []),
    );
  }
  await storeFirstLaunch(entries, store, new Set(rows.map((row) => row.key)));
}

// A default is not stored, so that a later release may better it; nor is the substitute of a wrong value.
async function storeFirstLaunch(
  entries: Entries,
  store: SettingStore,
  present: ReadonlySet<string>,
): Promise<void> {
  const fresh = entries
    .changeable()
    .filter(({ base, variable }) => base.stated && !present.has(variable.key as string));
  if (fresh.length === 0) {
    return;
  }
  const rows = fresh.map((entry) => entries.toRow(entry, entry.base.value));
  await store.save(rows, null);
  entries.apply(await store.load(rows.map(({ key }) => key)), fresh);
}
