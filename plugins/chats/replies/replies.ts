import { sql } from "kysely";
import { seconds } from "#storage/clock.ts";
import { lockChat } from "../chat-store.ts";
import { relinkFiles } from "../files/file-links.ts";
import { toAssignments, toRow } from "./reply-state.ts";
import { createFileLinks } from "../files/message-files.ts";
import type { ChatParts } from "../parts.ts";
import { createEventKeeper } from "./keep-event.ts";
import type { Checkpoint, InterruptedReply, Replies, Reply } from "./service-types.ts";
import { toStorableJson } from "../storable.ts";
import { foldAppendLog } from "./append-log.ts";
import type { ChatDatabase } from "../tables.ts";
import { createWaitingCalls } from "./waiting-calls.ts";

/** More events than any run sends between two checkpoints. */
export const maxUnstored = 100_000;

/** The messages that runs write: given to one, stored while they grow, given back. */
export function createReplies(parts: Pick<ChatParts, "db" | "transaction" | "files">): Replies {
  const { db, transaction } = parts;
  const links = createFileLinks(parts);
  return {
    ...links,
    ...createEventKeeper({ ...parts, ...links }),
    ...createWaitingCalls(parts),

    async begin({ chatId, messageId, runId, keeps = false }) {
      const row = await db
        .updateTable("chat_message")
        .set({
          run_id: runId,
          ended_by: null,
          done: false,
          updated_at: seconds(),
          error: null,
          extra: withoutSuggestions,
          ...(keeps ? {} : emptyReply),
        })
        .where("chat_id", "=", chatId)
        .where("id", "=", messageId)
        .where((eb) => eb.or([eb("run_id", "is", null), eb("run_id", "=", runId)]))
        .returning(["seq", hasFiles])
        .executeTakeFirst();
      if (row?.has_files && !keeps) {
        await transaction(async (tx) => {
          await lockChat(tx, chatId);
          await relinkFiles(tx, chatId, { messageIds: [messageId], runId });
        });
      }
      return row?.seq;
    },

    checkpoint: (checkpoints) => write(db, checkpoints, { ends: false }),

    async held(replies) {
      const { rows } = await sql<{ run_id: string }>`
        select m.run_id from chat_message as m
        join jsonb_to_recordset(cast(${toPlaces(replies)} as jsonb)) as p (chat_id text, id text, run_id text)
          on m.chat_id = p.chat_id and m.id = p.id and m.run_id = p.run_id`.execute(db);
      return new Set(rows.map(({ run_id }) => run_id));
    },

    async finish(checkpoint) {
      const { chatId, messageId, runId } = checkpoint;
      if ((await write(db, [checkpoint], { ends: true })).has(runId)) {
        return true;
      }
      // An earlier try may have gone through although nobody heard of it.
      const ended = await db
        .selectFrom("chat_message")
        .select("id")
        .where("chat_id", "=", chatId)
        .where("id", "=", messageId)
        .where("run_id", "is", null)
        .where("ended_by", "=", runId)
        .executeTakeFirst();
      return ended !== undefined;
    },

    async saveLastSeq({ chatId, messageId, seq }) {
      await db
        .updateTable("chat_message")
        .set({ seq })
        .where("chat_id", "=", chatId)
        .where("id", "=", messageId)
        .where("seq", "<", seq)
        .execute();
    },

    async suggest({ chatId, messageId }, followUps) {
      const { numAffectedRows } = await sql`
        update chat_message set updated_at = ${seconds()},
          extra = extra || jsonb_build_object('followUps', cast(${toStorableJson(followUps)} as jsonb))
        where chat_id = ${chatId} and id = ${messageId}`.execute(db);
      return numAffectedRows !== undefined && numAffectedRows > 0n;
    },

    interrupt: (replies) =>
      transaction(async (tx) => {
        const places = toPlaces(replies);
        await foldAppendLog(tx, places);
        return await interrupt(tx, places);
      }),
  };
}

async function interrupt(tx: ChatDatabase, places: string): Promise<InterruptedReply[]> {
  const { rows } = await sql<InterruptedReply>`
        with stale as (
          select m.chat_id, m.id, p.run_id, chat.title, chat.folder_id from chat_message as m
          join jsonb_to_recordset(cast(${places} as jsonb)) as p (chat_id text, id text, run_id text)
            on m.chat_id = p.chat_id and m.id = p.id
          join chat on chat.id = m.chat_id
          where m.run_id = p.run_id or (m.run_id is null and m.done = false)
          for update of m)
        update chat_message as m set run_id = null, done = true, updated_at = ${seconds()},
          output = ${settledOutput}, error = coalesce(m.error, '{"content": "interrupted"}'::jsonb),
          seq = m.seq + ${maxUnstored}
        from stale where m.chat_id = stale.chat_id and m.id = stale.id
        returning m.chat_id as "chatId", m.id as "messageId", stale.run_id as "runId", m.user_id as "userId",
          jsonb_build_object('title', stale.title, 'folderId', stale.folder_id) as chat, m.seq`.execute(tx);
  return rows;
}

/** True for a message that files of its chat are linked to. */
const hasFiles = sql<boolean>`exists (select 1 from chat_file as f
  where f.chat_id = chat_message.chat_id and f.message_id = chat_message.id)`.as("has_files");

/** They follow from a reply that is about to change, as does how it ended. */
const withoutSuggestions = sql<Record<string, unknown>>`extra - array['followUps', 'ending']`;

/** A reply that is written anew begins with nothing; files of a placeholder are its caller's. */
const emptyReply = {
  content: sql<string>`'""'::jsonb`,
  output: null,
  usage: null,
  sources: null,
  status_history: null,
  embeds: null,
  files: sql<unknown>`case when done then null else files end`,
  extra: sql<
    Record<string, unknown>
  >`extra - array['originalContent', 'followUps', 'selectedModelId', 'ending']`,
};

/**
 * Items that were being written are as complete as they will be, and nobody waits for an approval any more. A question
 * to the person stays open: its answer is what the reply goes on with.
 */
const settledOutput = sql`case when jsonb_typeof(m.output) = 'array' then (
  select jsonb_agg(case when item ->> 'status' in ('in_progress', 'pending')
      and not jsonb_exists(item, 'question') then item || '{"status": "completed"}' || case when item #>> '{approval,status}' = 'pending'
      then '{"approval": {"status": "cancelled"}}'::jsonb else '{}'::jsonb end
    else item end order by at)
  from jsonb_array_elements(m.output) with ordinality as items (item, at)) else m.output end`;

function toPlaces(replies: readonly Reply[]): string {
  return JSON.stringify(
    replies.map(({ chatId, messageId, runId }) => ({ chat_id: chatId, id: messageId, run_id: runId })),
  );
}

/**
 * Stores the state of replies in one statement; resolves to the runs whose message was still theirs. A state replaces
 * what was added since the one before. What is added must follow what is stored: a statement that was given up on may
 * still arrive, and late.
 */
async function write(
  db: ChatDatabase,
  checkpoints: readonly Checkpoint[],
  { ends }: { ends: boolean },
): Promise<Set<string>> {
  if (checkpoints.length === 0) {
    return new Set();
  }
  const rows = checkpoints.map(toRow);
  const now = seconds();
  const { rows: written } = await sql<{ run_id: string }>`
    with p as materialized (
      select * from jsonb_to_recordset(cast(${toStorableJson(rows)} as jsonb)) as p (chat_id text, id text,
        run_id text, seq int, after int, grown jsonb, numbers jsonb, "set" jsonb)),
    replies as (
      update chat_message as m set ${sql.join(toAssignments(rows), sql``)} seq = p.seq, updated_at = ${now}
        ${ends ? sql`, done = true, run_id = null, ended_by = p.run_id` : sql``}
      from p
      where m.chat_id = p.chat_id and m.id = p.id and m.run_id = p.run_id and coalesce(m.seq = p.after, true)
      returning m.chat_id, m.id, p.run_id, p.seq, p.after, p.grown),
    folded as (
      delete from chat_message_tail as t using replies
      where t.chat_id = replies.chat_id and t.message_id = replies.id and replies.after is null),
    added as (
      insert into chat_message_tail as t (chat_id, message_id, seq, grown)
      select chat_id, id, seq, grown from replies where grown is not null
      on conflict (chat_id, message_id, seq) do update set grown = t.grown || excluded.grown),
    touched as (
      update chat set updated_at = greatest(updated_at, ${now})
      where ${ends} and id in (select chat_id from replies))
    select run_id from replies`.execute(db);
  return new Set(written.map(({ run_id }) => run_id));
}
