import { sql, type Kysely } from "kysely";
import { isObject } from "#config/json-values.ts";
import { currentRequest } from "#kernel/http/current-request.ts";
import { seconds } from "#storage/clock.ts";
import { toJson } from "#storage/values.ts";
import { toKeptDifference } from "./difference.ts";
import type { AuditChoices, AuditFilter, AuditListQuery, AuditPage } from "./schema.ts";
import type { AuditEntry, AuditObject, AuditRecord } from "./entry.ts";
import type { AuditDatabase, AuditTables } from "./tables.ts";

const longestName = 300;

/** Appends a record of `entry` with the origin of the request that runs. */
export async function appendRecord(db: Kysely<AuditTables>, entry: AuditEntry): Promise<void> {
  const origin = currentRequest();
  const caller = entry.by === undefined || entry.by === origin?.caller?.userId ? origin?.caller : undefined;
  const { before, after, complete } = toKeptDifference(entry);
  if (isEmpty(before) && isEmpty(after)) {
    // Saved as it was.
    return;
  }
  await db
    .insertInto("audit_record")
    .values({
      created_at: seconds(),
      actor_id: entry.by ?? caller?.userId ?? null,
      actor_name: entry.actorName ?? caller?.name ?? null,
      actor_role: caller?.role ?? null,
      action: entry.action,
      object_type: entry.object.type,
      object_id: entry.object.id,
      object_name: entry.object.name?.slice(0, longestName).toWellFormed() ?? null,
      before: before === undefined ? null : toJson(before),
      after: after === undefined ? null : toJson(after),
      complete,
      address: origin?.address ?? null,
      client: origin?.client?.slice(0, longestName) ?? null,
      request_id: origin?.requestId ?? null,
    })
    .execute();
}

function isEmpty(side: unknown): boolean {
  return isObject(side) && Object.keys(side).length === 0;
}

/** The latest records about one object. */
export async function listHistory(
  db: AuditDatabase,
  { type, id }: Pick<AuditObject, "type" | "id">,
  limit: number,
): Promise<AuditRecord[]> {
  return await filtered(db, { object_type: type, object_id: id })
    .orderBy("id", "desc")
    .limit(limit)
    .execute();
}

/** One page of records, the latest first. */
export async function listRecords(
  db: AuditDatabase,
  { before_id: beforeId, limit, ...filter }: AuditListQuery,
): Promise<AuditPage> {
  const rows = await filtered(db, filter)
    .$if(beforeId !== undefined, (query) => query.where("id", "<", beforeId as number))
    .orderBy("id", "desc")
    .limit(limit + 1)
    .execute();
  const records = rows.slice(0, limit);
  return { records, next: rows.length > limit ? (records.at(-1)?.id ?? null) : null };
}

/** The next records behind one, the earliest first. */
export async function readNext(
  db: AuditDatabase,
  filter: AuditFilter,
  afterId: number,
): Promise<AuditRecord[]> {
  return await filtered(db, filter).where("id", ">", afterId).orderBy("id").limit(recordsAtOnce).execute();
}

const recordsAtOnce = 200;

/** Values that the record can be filtered by. */
export async function listChoices(db: AuditDatabase): Promise<AuditChoices> {
  const actions = await db.selectFrom("audit_record").select("action").distinct().orderBy("action").execute();
  const types = await db
    .selectFrom("audit_record")
    .select("object_type")
    .distinct()
    .orderBy("object_type")
    .execute();
  const actors = await db
    .selectFrom("audit_record")
    .select(["actor_id as id", sql<string>`coalesce(max(actor_name), actor_id)`.as("name")])
    .where("actor_id", "is not", null)
    .groupBy("actor_id")
    .orderBy("name")
    .limit(500)
    .execute();
  return {
    actions: actions.map(({ action }) => action),
    object_types: types.map(({ object_type: type }) => type),
    actors: actors as { id: string; name: string }[],
  };
}

function filtered(db: AuditDatabase, filter: AuditFilter) {
  const { action, object_type: type, object_id: id, actor_id: actor, query, since, until } = filter;
  let rows = db.selectFrom("audit_record").selectAll();
  rows = action === undefined ? rows : rows.where("action", "=", action);
  rows = type === undefined ? rows : rows.where("object_type", "=", type);
  rows = id === undefined ? rows : rows.where("object_id", "=", id);
  rows = actor === undefined ? rows : rows.where("actor_id", "=", actor);
  rows = since === undefined ? rows : rows.where("created_at", ">=", since);
  rows = until === undefined ? rows : rows.where("created_at", "<=", until);
  return query
    ? rows.where(
        sql<boolean>`position(lower(${query}) in lower(object_id || ' ' || coalesce(object_name, ''))) > 0`,
      )
    : rows;
}
