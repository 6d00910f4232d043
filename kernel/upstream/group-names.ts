import type { PluginDatabase } from "#kernel/plugin.ts";

/** The names of groups by their ids, in any order; ids of groups that are gone have none. */
export async function findGroupNames(
  db: PluginDatabase<Record<never, never>>,
  ids: readonly string[],
): Promise<readonly string[]> {
  if (ids.length === 0) {
    return [];
  }
  const rows = await db.selectFrom("group").select("name").where("id", "in", ids).execute();
  return rows.map((row) => row.name);
}
