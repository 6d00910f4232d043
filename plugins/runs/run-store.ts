import { sql } from "kysely";
import { seconds } from "#storage/clock.ts";
import { anyOf } from "#storage/values.ts";
import type { RunDatabase, RunTable } from "./tables.ts";

/** A run without its owner. */
export type RunRow = Omit<RunTable, "owner_id" | "created_at">;

/** A process says nothing for this long: it is gone, or cut off and will find its runs taken. */
export const silentMs = 5_000;

const now = sql`(extract(epoch from clock_timestamp()) * 1000)::bigint`;

/** Stores runs as those of a process, which is thereby seen. */
export async function insertRuns(db: RunDatabase, ownerId: string, runs: readonly RunRow[]): Promise<void> {
  await sql`
    with owner as (insert into chat_run_owner (id, seen_at) values (${ownerId}, ${now})
      on conflict (id) do update set seen_at = excluded.seen_at)
    insert into chat_run (id, chat_id, message_id, user_id, owner_id, created_at)
    select r.id, r.chat_id, r.message_id, r.user_id, ${ownerId}, ${seconds()}
    from jsonb_to_recordset(cast(${JSON.stringify(runs)} as jsonb))
      as r (id text, chat_id text, message_id text, user_id text)`.execute(db);
}

export async function deleteRuns(db: RunDatabase, ids: readonly string[]): Promise<void> {
  await db.deleteFrom("chat_run").where("id", "=", anyOf(ids)).execute();
}

/** Says that a process still works on its runs. */
export async function beat(db: RunDatabase, ownerId: string): Promise<void> {
  await sql`insert into chat_run_owner (id, seen_at) values (${ownerId}, ${now})
    on conflict (id) do update set seen_at = excluded.seen_at`.execute(db);
}

/** Takes a process and others that were silent for long from the list. */
export async function forgetOwner(db: RunDatabase, ownerId: string): Promise<void> {
  await sql`delete from chat_run_owner where id = ${ownerId} or seen_at < ${now} - 3600000`.execute(db);
}

/** Runs of processes that are gone; with `all`, those of every process but this one. */
export async function staleRuns(
  db: RunDatabase,
  ownerId: string,
  { all, limit }: { all: boolean; limit: number },
): Promise<RunRow[]> {
  const { rows } = await sql<RunRow>`
    select r.id, r.chat_id, r.message_id, r.user_id from chat_run as r
    where r.owner_id <> ${ownerId} and (${all} or not exists (
      select 1 from chat_run_owner as o where o.id = r.owner_id and o.seen_at > ${now} - ${silentMs}))
    limit ${limit}`.execute(db);
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
