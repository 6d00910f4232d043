import { sql } from "kysely";
import { AppError } from "#kernel/errors.ts";
import { seconds } from "#storage/clock.ts";
import { isUniqueViolation } from "#storage/errors.ts";
import { withReservedConnection } from "#storage/reserved-connection.ts";
import { anyOf } from "#storage/values.ts";
import type { RunDatabase, RunTable } from "../tables.ts";

/** A run without its owner. */
export type RunRow = Omit<RunTable, "owner_id" | "created_at" | "stop_reason">;

/** A process says nothing for this long: it is gone, or cut off and will find its runs taken. */
export const silentMs = 5_000;

const now = sql`(extract(epoch from clock_timestamp()) * 1000)::bigint`;

/**
 * Stores runs as those of a process, which is thereby seen. Throws `conflict` when another one writes a message of the
 * same temporary chat.
 */
export async function insertRuns(db: RunDatabase, ownerId: string, runs: readonly RunRow[]): Promise<void> {
  await sql`
    with owner as (insert into chat_run_owner (id, seen_at) values (${ownerId}, ${now})
      on conflict (id) do update set seen_at = excluded.seen_at)
    insert into chat_run (id, chat_id, message_id, user_id, owner_id, created_at)
    select r.id, r.chat_id, r.message_id, r.user_id, ${ownerId}, ${seconds()}
    from jsonb_to_recordset(cast(${JSON.stringify(runs)} as jsonb))
      as r (id text, chat_id text, message_id text, user_id text)`
    .execute(db)
    .catch((error: unknown) => {
      throw isUniqueViolation(error) === "chat_run_temporary" ? isWritten(error) : error;
    });
}

/** The answer to whoever wants a message that a run is writing. */
export function isWritten(cause?: unknown): AppError {
  return new AppError("conflict", "This message is being written already. Stop that run first.", { cause });
}

export async function deleteRuns(db: RunDatabase, ids: readonly string[]): Promise<void> {
  await db.deleteFrom("chat_run").where("id", "=", anyOf(ids)).execute();
}

/** What one heartbeat found. */
export interface Beat {
  /** The database's clock, in milliseconds. */
  readonly at: number;
  /** The runs that still are the process's own, by id, each with whether it shall stop. */
  readonly runs: ReadonlyMap<string, { readonly shallStop: boolean }>;
}

/** Renews the leases of a process, apart from its other work: a process that is not heard of counts as gone. */
export async function beat(db: RunDatabase, ownerId: string): Promise<Beat> {
  const { rows } = await withReservedConnection(() =>
    sql<{ at: number; id: string | null; stop_reason: string | null }>`
      with owner as (insert into chat_run_owner (id, seen_at) values (${ownerId}, ${now})
        on conflict (id) do update set seen_at = excluded.seen_at returning seen_at)
      select owner.seen_at as at, r.id, r.stop_reason
      from owner left join chat_run as r on r.owner_id = ${ownerId}`.execute(db),
  );
  const runs = rows.flatMap(({ id, stop_reason: reason }) =>
    id === null ? [] : [[id, { shallStop: reason !== null }] as const],
  );
  return { at: (rows[0] as { at: number }).at, runs: new Map(runs) };
}

/** Notes that runs shall stop: whoever works on them reads it, also when the announcement was lost. */
export async function askToStop(
  db: RunDatabase,
  runs: { readonly ids: readonly string[] } | { readonly userId: string },
): Promise<void> {
  const all = db.updateTable("chat_run").set({ stop_reason: "stopped" });
  const wanted =
    "ids" in runs ? all.where("id", "=", anyOf(runs.ids)) : all.where("user_id", "=", runs.userId);
  await wanted.execute();
}

/** Takes a process and others that were silent for long from the list. */
export async function forgetOwner(db: RunDatabase, ownerId: string): Promise<void> {
  await sql`delete from chat_run_owner where id = ${ownerId} or seen_at < ${now} - 3600000`.execute(db);
}

/**
 * Takes runs over from processes that are gone; with `all`, from every other process. Each goes to one process only:
 * what another is about to take is passed over. A statement that hung takes nothing: it runs too long after `beatAt`, the
 * last heartbeat that this process had an answer to, in the database's time.
 */
export async function takeStale(
  db: RunDatabase,
  ownerId: string,
  { all, limit, beatAt }: { all: boolean; limit: number; beatAt: number },
): Promise<RunRow[]> {
  const { rows } = await sql<RunRow>`
    with stale as (
      select r.id from chat_run as r
      where r.owner_id <> ${ownerId} and (${all} or (
        not exists (
          select 1 from chat_run_owner as o where o.id = r.owner_id and o.seen_at > ${now} - ${silentMs})
        and ${beatAt}::bigint > ${now} - ${silentMs / 2}::int))
      limit ${limit} for update of r skip locked),
    taken as (
      update chat_run as r set owner_id = ${ownerId} from stale where r.id = stale.id
      returning r.id, r.chat_id, r.message_id, r.user_id),
    owner as (
      insert into chat_run_owner (id, seen_at) select ${ownerId}, ${now} where exists (select 1 from taken)
      on conflict (id) do update set seen_at = excluded.seen_at)
    select * from taken`.execute(db);
  return rows;
}

export async function runsOfChat(db: RunDatabase, chatId: string): Promise<RunRow[]> {
  return await db
    .selectFrom("chat_run")
    .select(["id", "chat_id", "message_id", "user_id"])
    .where("chat_id", "=", chatId)
    .orderBy("created_at")
    .orderBy("id")
    .execute();
}

export async function allRunIds(db: RunDatabase): Promise<string[]> {
  const rows = await db.selectFrom("chat_run").select("id").orderBy("created_at").orderBy("id").execute();
  return rows.map(({ id }) => id);
}

export async function findRun(db: RunDatabase, id: string): Promise<RunRow | undefined> {
  return await db
    .selectFrom("chat_run")
    .select(["id", "chat_id", "message_id", "user_id"])
    .where("id", "=", id)
    .executeTakeFirst();
}
