import { sql, type Kysely } from "kysely";
import type { CoreTables } from "./core-tables.ts";
import { anyOf } from "./values.ts";

/** By resource type: which of these ids exist. */
export type ExistingResources = Readonly<
  Record<string, (ids: readonly string[]) => Promise<Iterable<string>>>
>;

/** Removes grants whose principal is gone, and those of the given types whose resource is gone; resolves to their number. */
export async function sweepGrants(db: Kysely<CoreTables>, existing: ExistingResources): Promise<number> {
  let removed = 0;
  const orphans = await sql<{ id: number }>`
    delete from access_grant as held
    where (held.principal_type = 'group' and not exists (select 1 from "group" where id = held.principal_id))
       or (held.principal_type = 'user' and held.principal_id <> '*'
           and not exists (select 1 from "user" where id = held.principal_id))
    returning held.id`.execute(db);
  removed += orphans.rows.length;
  for (const [type, find] of Object.entries(existing)) {
    removed += await sweepType(db, type, find);
  }
  return removed;
}

const SWEEP_BATCH = 1_000;

async function sweepType(
  db: Kysely<CoreTables>,
  type: string,
  find: (ids: readonly string[]) => Promise<Iterable<string>>,
): Promise<number> {
  let removed = 0;
  for (let after: string | undefined = ""; after !== undefined;) {
    // A grant is committed with or after its resource, so a resource not found afterwards is gone.
    const rows: { resource_id: string }[] = await db
      .selectFrom("access_grant")
      .select("resource_id")
      .distinct()
      .where("resource_type", "=", type)
      .where("resource_id", ">", after)
      .orderBy("resource_id")
      .limit(SWEEP_BATCH)
      .execute();
    const ids = rows.map((row) => row.resource_id);
    const alive = new Set(ids.length > 0 ? await find(ids) : []);
    const gone = ids.filter((id) => !alive.has(id));
    if (gone.length > 0) {
      const query = db.deleteFrom("access_grant").where("resource_type", "=", type);
      const deleted = await query.where("resource_id", "=", anyOf(gone)).returning("id").execute();
      removed += deleted.length;
    }
    after = ids.length === SWEEP_BATCH ? ids.at(-1) : undefined;
  }
  return removed;
}
