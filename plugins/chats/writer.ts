import { type RawBuilder, sql } from "kysely";
import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import { seconds } from "#storage/clock.ts";
import { anyOf } from "#storage/values.ts";
import { readBranch } from "./branches.ts";
import { findChat } from "./chat-store.ts";
import { splitNewMessage, timestampOf } from "./message-fields.ts";
import type { ChatParts } from "./parts.ts";
import type { AppendedMessage, ChatMessage, Chats, Checkpoint, Reply, ReplyState } from "./service.ts";
import { toStorableJson } from "./storable.ts";
import { withClearConflicts } from "./violations.ts";

/** What other plugins, runs before all, may do with stored chats. */
export function createChatsService({ db }: Pick<ChatParts, "db">): Chats {
  return {
    async require(owner: Principal, chatId: string) {
      const row = await findChat(db, chatId);
      if (row === undefined || row.user_id !== owner.userId) {
        throw new AppError("not_found", "Chat not found");
      }
      const { id, user_id, title, folder_id, current_message_id, meta, variables, chat } = row;
      return { id, user_id, title, folder_id, current_message_id, meta, variables, chat };
    },

    branch: async (chatId, leaf, limit = maxBranch) =>
      (await readBranch(db, chatId, { leaf, limit })) as ChatMessage[],

    async append(chatId, messages) {
      const last = messages.at(-1);
      if (last === undefined) {
        return;
      }
      const appended = await withClearConflicts(() => append(db, { chatId, messages, leaf: last.id }));
      if (!appended) {
        throw new AppError("not_found", "Chat not found");
      }
    },

    async begin({ chatId, messageId, runId }) {
      const { numUpdatedRows } = await db
        .updateTable("chat_message")
        .set({ run_id: runId, done: false, updated_at: seconds() })
        .where("chat_id", "=", chatId)
        .where("id", "=", messageId)
        .where((eb) => eb.or([eb("run_id", "is", null), eb("run_id", "=", runId)]))
        .executeTakeFirst();
      return Number(numUpdatedRows) > 0;
    },

    checkpoint: (checkpoints) => write(db, checkpoints, { ends: false }),
    finish: async (checkpoint) => (await write(db, [checkpoint], { ends: true })).has(checkpoint.runId),

    async interrupt(runIds) {
      const { rows } = await sql<Reply>`
        with stale as (
          select chat_id, id, run_id from chat_message where run_id = ${anyOf(runIds)} for update)
        update chat_message as m set run_id = null, done = true, updated_at = ${seconds()},
          error = coalesce(m.error, '{"content": "interrupted"}'::jsonb)
        from stale where m.chat_id = stale.chat_id and m.id = stale.id
        returning m.chat_id as "chatId", m.id as "messageId", stale.run_id as "runId"`.execute(db);
      return rows;
    },

    async running(limit) {
      const rows = await db
        .selectFrom("chat_message")
        .select("run_id")
        .where("run_id", "is not", null)
        .limit(limit)
        .execute();
      return rows.map(({ run_id }) => run_id as string);
    },
  };
}

const maxBranch = 1_000_000;

type Database = ChatParts["db"];

/** One statement, as cheap for the thousandth message as for the first. False when the chat is gone. */
async function append(
  db: Database,
  { chatId, messages, leaf }: { chatId: string; messages: readonly AppendedMessage[]; leaf: string },
): Promise<boolean> {
  const now = seconds();
  const rows = messages.map((message, at) => ({
    id: message.id,
    parent_id: message.parentId,
    at,
    created_at: timestampOf(message) ?? now,
    ...splitNewMessage(message),
  }));
  const columns = usedColumns(rows);
  const { rows: changed } = await sql<{ id: string }>`
    with held as (
      update chat set current_message_id = ${leaf}, updated_at = greatest(updated_at, ${now})
      where id = ${chatId} returning id, user_id),
    sent as (
      select * from jsonb_to_recordset(cast(${toStorableJson(rows)} as jsonb))
        as p (id text, parent_id text, at int, created_at bigint, "set" jsonb, extra jsonb)),
    added as (
      insert into chat_message (chat_id, user_id, id, parent_id, position, ${sql.join(columns.map((column) => sql.ref(column)))}, extra, created_at, updated_at)
      select held.id, held.user_id, p.id, p.parent_id,
        p.at + coalesce(case when p.parent_id is null
          then (select max(s.position) + 1 from chat_message s where s.chat_id = ${chatId} and s.parent_id is null)
          else (select max(s.position) + 1 from chat_message s where s.chat_id = ${chatId} and s.parent_id = p.parent_id)
          end, 0),
        ${sql.join(columns.map(valueOf))}, p.extra, p.created_at, ${now}
      from sent as p cross join held)
    select id from held`.execute(db);
  return changed.length > 0;
}

/** The columns that some rows name: a short statement is planned sooner. */
function usedColumns(rows: readonly { readonly set: Readonly<Record<string, unknown>> }[]): string[] {
  return [...new Set(rows.flatMap(({ set }) => Object.keys(set)))].toSorted();
}

/** The value of a column in `p.set`; a JSON null is an empty column. */
function valueOf(column: string): RawBuilder<unknown> {
  const text = sql`p."set" ->> ${sql.lit(column)}`;
  if (["role", "model_id", "context_summary"].includes(column)) {
    return text;
  }
  return column === "done"
    ? sql`(${text})::boolean`
    : sql`nullif(p."set" -> ${sql.lit(column)}, 'null'::jsonb)`;
}

const stateColumns: Readonly<Record<keyof ReplyState, string>> = {
  content: "content",
  output: "output",
  usage: "usage",
  sources: "sources",
  files: "files",
  embeds: "embeds",
  statusHistory: "status_history",
  error: "error",
};

/** Stores the state of replies in one statement; resolves to the runs whose message was still theirs. */
async function write(
  db: Database,
  checkpoints: readonly Checkpoint[],
  { ends }: { ends: boolean },
): Promise<Set<string>> {
  if (checkpoints.length === 0) {
    return new Set();
  }
  const rows = checkpoints.map(({ chatId, messageId, runId, state }) => ({
    chat_id: chatId,
    id: messageId,
    run_id: runId,
    set: Object.fromEntries(
      Object.entries(state).map(([key, value]) => [stateColumns[key as keyof ReplyState], value]),
    ),
  }));
  const assignments = usedColumns(rows).map(
    (column) => sql`${sql.ref(column)} = case when p."set" ? ${sql.lit(column)}
      then ${valueOf(column)} else m.${sql.ref(column)} end, `,
  );
  const now = seconds();
  const { rows: written } = await sql<{ run_id: string }>`
    with replies as (
      update chat_message as m set ${sql.join(assignments, sql``)} updated_at = ${now}
        ${ends ? sql`, done = true, run_id = null` : sql``}
      from jsonb_to_recordset(cast(${toStorableJson(rows)} as jsonb))
        as p (chat_id text, id text, run_id text, "set" jsonb)
      where m.chat_id = p.chat_id and m.id = p.id and m.run_id = p.run_id
      returning p.run_id, m.chat_id),
    touched as (
      update chat set updated_at = greatest(updated_at, ${now})
      where ${ends} and id in (select chat_id from replies))
    select run_id from replies`.execute(db);
  return new Set(written.map(({ run_id }) => run_id));
}
