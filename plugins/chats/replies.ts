import { type RawBuilder, sql } from "kysely";
import { seconds } from "#storage/clock.ts";
import { anyOf } from "#storage/values.ts";
import { usedColumns, valueOf } from "./columns.ts";
import type { Chats, Checkpoint, InterruptedReply, ReplyState } from "./service.ts";
import { toStorableJson } from "./storable.ts";
import type { ChatDatabase } from "./tables.ts";

/** More events than any run sends between two checkpoints. */
export const maxUnstored = 100_000;

/** The messages that runs write: given to one, stored while they grow, given back. */
export function createReplies(
  db: ChatDatabase,
): Pick<Chats, "begin" | "checkpoint" | "held" | "finish" | "settle" | "interrupt"> {
  return {
    async begin({ chatId, messageId, runId, keeps = false }) {
      const row = await db
        .updateTable("chat_message")
        .set({
          run_id: runId,
          done: false,
          updated_at: seconds(),
          error: null,
          extra: withoutSuggestions,
          ...(keeps ? {} : emptyReply),
        })
        .where("chat_id", "=", chatId)
        .where("id", "=", messageId)
        .where((eb) => eb.or([eb("run_id", "is", null), eb("run_id", "=", runId)]))
        .returning("seq")
        .executeTakeFirst();
      return row?.seq;
    },

    checkpoint: (checkpoints) => write(db, checkpoints, { ends: false }),

    async held(replies) {
      const asked = replies.map(({ chatId, messageId, runId }) => ({
        chat_id: chatId,
        id: messageId,
        run_id: runId,
      }));
      const { rows } = await sql<{ run_id: string }>`
        select m.run_id from chat_message as m
        join jsonb_to_recordset(cast(${JSON.stringify(asked)} as jsonb)) as p (chat_id text, id text, run_id text)
          on m.chat_id = p.chat_id and m.id = p.id and m.run_id = p.run_id`.execute(db);
      return new Set(rows.map(({ run_id }) => run_id));
    },

    finish: async (checkpoint) => (await write(db, [checkpoint], { ends: true })).has(checkpoint.runId),

    async settle({ chatId, messageId, seq }) {
      await db
        .updateTable("chat_message")
        .set({ seq })
        .where("chat_id", "=", chatId)
        .where("id", "=", messageId)
        .where("seq", "<", seq)
        .execute();
    },

    async interrupt(runIds) {
      const { rows } = await sql<InterruptedReply>`
        with stale as (
          select chat_id, id, run_id from chat_message where run_id = ${anyOf(runIds)} for update)
        update chat_message as m set run_id = null, done = true, updated_at = ${seconds()},
          error = coalesce(m.error, '{"content": "interrupted"}'::jsonb), seq = m.seq + ${maxUnstored}
        from stale where m.chat_id = stale.chat_id and m.id = stale.id
        returning m.chat_id as "chatId", m.id as "messageId", stale.run_id as "runId", m.user_id as "userId",
          m.seq`.execute(db);
      return rows;
    },
  };
}

/** They follow from a reply that is about to change. */
const withoutSuggestions = sql<Record<string, unknown>>`extra - 'followUps'`;

/** A reply that is written anew begins with nothing. */
const emptyReply = {
  content: sql<string>`'""'::jsonb`,
  output: null,
  usage: null,
  sources: null,
  status_history: null,
  embeds: null,
  extra: sql<Record<string, unknown>>`extra - array['originalContent', 'followUps', 'selectedModelId']`,
};

const stateColumns: Readonly<Record<keyof ReplyState, string>> = {
  content: "content",
  output: "output",
  usage: "usage",
  sources: "sources",
  files: "files",
  embeds: "embeds",
  statusHistory: "status_history",
  error: "error",
  extra: "extra",
};

/** Stores the state of replies in one statement; resolves to the runs whose message was still theirs. */
async function write(
  db: ChatDatabase,
  checkpoints: readonly Checkpoint[],
  { ends }: { ends: boolean },
): Promise<Set<string>> {
  if (checkpoints.length === 0) {
    return new Set();
  }
  const rows = checkpoints.map(({ chatId, messageId, runId, state, seq, appended }) => ({
    chat_id: chatId,
    id: messageId,
    run_id: runId,
    seq,
    ...(appended !== undefined && { appended }),
    set: Object.fromEntries(
      Object.entries(state).map(([key, value]) => [stateColumns[key as keyof ReplyState], value]),
    ),
  }));
  const columns = usedColumns(rows).filter((column) => column !== "extra" && column !== "sources");
  const appends = rows.some((row) => "appended" in row);
  const assignments = columns.map(
    (column) => sql`${sql.ref(column)} = case when p."set" ? ${sql.lit(column)}
      then ${valueOf(column)} ${(appends && grown[column]) || sql``} else m.${sql.ref(column)} end, `,
  );
  if (rows.some(({ set }) => "sources" in set)) {
    assignments.push(sql`sources = case when p."set" ? 'sources'
      then coalesce(m.sources, '[]'::jsonb) || (p."set" -> 'sources') else m.sources end, `);
  }
  if (rows.some(({ set }) => "extra" in set)) {
    assignments.push(sql`extra = m.extra || coalesce(p."set" -> 'extra', '{}'::jsonb), `);
  }
  for (const [column, grows] of Object.entries(appends ? grown : {})) {
    if (!columns.includes(column)) {
      assignments.push(sql`${sql.ref(column)} = case ${grows} else m.${sql.ref(column)} end, `);
    }
  }
  const now = seconds();
  const { rows: written } = await sql<{ run_id: string }>`
    with replies as (
      update chat_message as m set ${sql.join(assignments, sql``)} seq = p.seq, updated_at = ${now}
        ${ends ? sql`, done = true, run_id = null` : sql``}
      from jsonb_to_recordset(cast(${toStorableJson(rows)} as jsonb))
        as p (chat_id text, id text, run_id text, seq int, appended text, "set" jsonb)
      where m.chat_id = p.chat_id and m.id = p.id and m.run_id = p.run_id
      returning p.run_id, m.chat_id),
    touched as (
      update chat set updated_at = greatest(updated_at, ${now})
      where ${ends} and id in (select chat_id from replies))
    select run_id from replies`.execute(db);
  return new Set(written.map(({ run_id }) => run_id));
}

/** Only the new text travels; it belongs to the last item of the output as well. */
const grown: Readonly<Record<string, RawBuilder<unknown>>> = {
  content: sql`when p.appended is not null then to_jsonb(coalesce(m.content #>> '{}', '') || p.appended)`,
  output: sql`when m.output #>> '{-1,content,-1,text}' || p.appended is not null
    then jsonb_set(m.output, '{-1,content,-1,text}', to_jsonb((m.output #>> '{-1,content,-1,text}') || p.appended))`,
};
