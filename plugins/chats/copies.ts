import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import { seconds } from "#storage/clock.ts";
import { anyOf } from "#storage/values.ts";
import { type ChatRow, insertChat, isRunning, lockChat } from "./chat-store.ts";
import { copyFiles } from "./files/file-links.ts";
import { stripForeignFiles } from "./files/foreign-files.ts";
import { requireRow } from "./require-row.ts";
import { findLinks } from "./tree/message-store.ts";
import { announce, type ChatParts } from "./parts.ts";
import { prepareChat, storeChat } from "./tree/save.ts";
import type { SentChat } from "./schema.ts";
import { findShare, readShownFiles, readSnapshot } from "./sharing/share-store.ts";
import { tagsOf } from "./tags/tag-store.ts";
import type { ChatDatabase } from "./tables.ts";
import { withClearConflicts } from "./violations.ts";

export type Copies = ReturnType<typeof createCopies>;

/** New chats made of others. */
export function createCopies(parts: ChatParts) {
  const { db, transaction, chats, shares, events } = parts;

  const copied = (caller: Principal, row: ChatRow, from: string) => {
    announce(events, "chat.cloned", { by: caller, id: row.id, data: { title: row.title, from } });
    return row;
  };

  return {
    /** The whole chat once more, variables included. Throws `conflict` while a run writes into it. */
    async clone(caller: Principal, id: string, title: string | undefined): Promise<ChatRow> {
      await chats.load(caller, id, "write");
      const row = await withClearConflicts(() =>
        transaction(async (tx) => {
          const from = await lockIdle(tx, id);
          return await copyRows(tx, from, { title: title ?? `Clone of ${from.title}` });
        }),
      );
      return copied(caller, row, id);
    },

    /** The branch that ends with a message (the shown one when none is named) as a chat of its own. */
    async fork(caller: Principal, id: string, messageId: string | undefined): Promise<ChatRow> {
      await chats.load(caller, id, "write");
      const row = await withClearConflicts(() =>
        transaction(async (tx) => {
          const from = await lockIdle(tx, id);
          const leaf = messageId ?? from.current_message_id;
          return await copyRows(tx, from, {
            title: `Fork of ${from.title}`,
            leaf,
            path: toBranch(await findLinks(tx, id), leaf),
          });
        }),
      );
      return copied(caller, row, id);
    },

    /** A chat of the caller's own from somebody's snapshot. Throws `not_found` for shares the caller may not read. */
    async cloneShared(caller: Principal, shareId: string): Promise<ChatRow> {
      const share = await findShare(db, shareId);
      const { id, chat_id, title } = await shares.load(caller, share?.chat_id ?? shareId, "read");
      const shared = JSON.parse(requireRow(await readSnapshot(db, id, "chat"))) as SentChat;
      // Whoever copies it files it under tags of their own.
      const { tags: _tags, ...sent } = shared;
      // A file that the share does not open stays out, also the caller's own: sharing the clone would open it.
      const shown = new Set(await readShownFiles(db, id));
      const prepared = await prepareChat(parts, caller, {
        sent,
        isNew: true,
        mayShow: (file) => shown.has(file),
      });
      const named = {
        ...prepared,
        sent: { ...prepared.sent, title: `Clone of ${title}`, originalChatId: chat_id },
      };
      const row = await withClearConflicts(() =>
        transaction((tx) => storeChat(tx, caller, { prepared: named, facts: {}, heal: true })),
      );
      return copied(caller, row, chat_id);
    },
  };
}

async function lockIdle(tx: ChatDatabase, id: string): Promise<ChatRow> {
  const row = requireRow(await lockChat(tx, id));
  if (await isRunning(tx, id)) {
    throw new AppError("conflict", "A reply is being written in this chat. Wait for it or stop it first.");
  }
  return row;
}

function toBranch(links: ReadonlyMap<string, string | null>, leaf: string | null): string[] {
  if (leaf === null || !links.has(leaf)) {
    throw new AppError("not_found", "Message not found");
  }
  const path: string[] = [];
  for (let at: string | null | undefined = leaf; at; at = links.get(at)) {
    path.push(at);
  }
  return path;
}

interface CopyOptions {
  readonly title: string;
  readonly leaf?: string | null;
  /** Left out: every message. */
  readonly path?: readonly string[];
}

/** Copies inside the database: what was said does not travel. */
async function copyRows(
  tx: ChatDatabase,
  from: ChatRow,
  { title, leaf, path }: CopyOptions,
): Promise<ChatRow> {
  const head = { ...from.chat, originalChatId: from.id, ...(leaf ? { branchPointMessageId: leaf } : {}) };
  const row = await insertChat(tx, {
    id: randomUUID(),
    user_id: from.user_id,
    title,
    chat: head,
    meta: tagsOf(from).length > 0 ? { tags: tagsOf(from) } : {},
    folder_id: from.folder_id,
    variables: from.variables,
    current_message_id: leaf ?? from.current_message_id,
  });
  const now = seconds();
  const wanted = path === undefined ? sql`` : sql`and m.id = ${anyOf(path)}`;
  await sql`insert into chat_message (chat_id, user_id, id, parent_id, position, role, content, output, model_id, files,
      sources, embeds, meta, done, status_history, error, usage, context_summary, extra, created_at, updated_at)
    select ${row.id}, m.user_id, m.id, m.parent_id, m.position, m.role, m.content, m.output, m.model_id, m.files,
      m.sources, m.embeds, m.meta, m.done, m.status_history, m.error, m.usage, m.context_summary, m.extra,
      m.created_at, ${now}
    from chat_message as m where m.chat_id = ${from.id} ${wanted}`.execute(tx);
  await copyFiles(tx, from.id, row);
  return { ...row, chat: await stripForeignFiles(tx, { ...row, chat: head }) };
}
