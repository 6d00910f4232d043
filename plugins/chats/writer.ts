import { sql } from "kysely";
import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import { seconds } from "#storage/clock.ts";
import type { ChatActions } from "./chats.ts";
import { usedColumns, valueOf } from "./tree/columns.ts";
import { splitNewMessage, timestampOf } from "./tree/message-fields.ts";
import { announceMessages, type ChatParts } from "./parts.ts";
import { readBranch, readBranchFiles } from "./reading/read-branch.ts";
import type { AppendedMessage, Chats } from "./service.ts";
import type { Removal } from "./removal.ts";
import { toStorableJson } from "./storable.ts";
import { createTaskResults } from "./task-results.ts";
import { createTreeWork, toFacts } from "./tree/tree-work.ts";
import { withClearConflicts } from "./violations.ts";

/** What other plugins, runs before all, may do with stored chats. */
export function createChatsService(
  parts: Pick<ChatParts, "db" | "transaction" | "events" | "chats" | "grants">,
  { actions, removal }: { actions: Pick<ChatActions, "create" | "change">; removal: Pick<Removal, "remove"> },
): Chats {
  const { db, chats, events } = parts;
  return {
    async require(owner: Principal, chatId: string) {
      const row = await chats.find(owner, chatId, "write");
      if (row === undefined) {
        throw new AppError("not_found", "Chat not found");
      }
      return toFacts(row);
    },

    ...createTreeWork({ db, actions }),

    branchFiles: (chatId, leaf) => readBranchFiles(db, chatId, leaf),
    branch: (chatId, leaf, wish) => readBranch(db, chatId, { leaf, ...wish }),

    async append(chatId, messages) {
      const last = messages.at(-1);
      if (last === undefined) {
        return;
      }
      const owner = await withClearConflicts(() => append(db, { chatId, messages, leaf: last.id }));
      if (owner === undefined) {
        throw new AppError("not_found", "Chat not found");
      }
      announceMessages(events, { id: owner }, { id: chatId, messages });
    },

    async discard(owner, chatId) {
      if ((await chats.find(owner, chatId, "write")) !== undefined) {
        await removal.remove(owner, chatId);
      }
    },

    ...createTaskResults(parts),
  };
}

type Database = ChatParts["db"];

/**
 * One statement, as cheap for the thousandth message as for the first. Resolves to the owner of the chat; undefined when
 * it is gone.
 */
async function append(
  db: Database,
  { chatId, messages, leaf }: { chatId: string; messages: readonly AppendedMessage[]; leaf: string },
): Promise<string | undefined> {
  const now = seconds();
  const rows = messages.map((message, at) => ({
    id: message.id,
    parent_id: message.parentId,
    at,
    created_at: timestampOf(message) ?? now,
    ...splitNewMessage(message),
  }));
  const columns = usedColumns(rows);
  const { rows: changed } = await sql<{ user_id: string }>`
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
    select user_id from held`.execute(db);
  return changed[0]?.user_id;
}
