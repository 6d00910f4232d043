import { ConfigError, type ConfigRegistry } from "#config/registry.ts";
import type { Logger } from "#kernel/log.ts";
import type { AccountsDatabase } from "../tables.ts";

const name = "DEFAULT_GROUP_ID";

/** Refuses DEFAULT_GROUP_ID of a group that there is not, whichever way it is set (contract D.37). */
export function guardDefaultGroup(
  configuration: Pick<ConfigRegistry, "recordChanges">,
  db: AccountsDatabase,
): void {
  configuration.recordChanges(async (changes, { transaction }) => {
    const wanted = changes.find((change) => change.name === name)?.after;
    // A way back to the environment's value is never barred: the start has warned about it.
    if (wanted?.source !== "stored") {
      return;
    }
    if (!(await isGroup((transaction ?? db) as AccountsDatabase, String(wanted.value)))) {
      throw new ConfigError(name, "names no group");
    }
  });
}

/** Warns where the environment, or what is stored, names a group that there is not. */
export async function warnOfDefaultGroup(
  groupId: string,
  { db, log }: { db: AccountsDatabase; log: Pick<Logger, "warn"> },
): Promise<void> {
  if (!(await isGroup(db, groupId))) {
    log.warn(`${name} names no group: new accounts join none`);
  }
}

async function isGroup(db: AccountsDatabase, id: string): Promise<boolean> {
  return (
    id === "" ||
    (await db.selectFrom("group").select("id").where("id", "=", id).executeTakeFirst()) !== undefined
  );
}
