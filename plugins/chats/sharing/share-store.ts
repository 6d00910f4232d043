import { randomUUID } from "node:crypto";
import { sql, type Selectable } from "kysely";
import { seconds } from "#storage/clock.ts";
import { anyOf } from "#storage/values.ts";
import type { ChatDatabase, SharedChatTable } from "../tables.ts";

/** A share without its snapshot. */
export type ShareRow = Pick<
  Selectable<SharedChatTable>,
  "id" | "chat_id" | "user_id" | "title" | "created_at" | "updated_at"
>;

const shareColumns = ["id", "chat_id", "user_id", "title", "created_at", "updated_at"] as const;

export async function findShareOfChat(db: ChatDatabase, chatId: string): Promise<ShareRow | undefined> {
  return await db
    .selectFrom("shared_chat")
    .select(shareColumns)
    .where("chat_id", "=", chatId)
    .executeTakeFirst();
}

export async function findShare(db: ChatDatabase, id: string): Promise<ShareRow | undefined> {
  return await db.selectFrom("shared_chat").select(shareColumns).where("id", "=", id).executeTakeFirst();
}

/** When the snapshots of some chats were taken, by chat. */
export async function findShareTimes(
  db: ChatDatabase,
  chatIds: readonly string[],
): Promise<Map<string, number>> {
  const rows = await db
    .selectFrom("shared_chat")
    .select(["chat_id", "updated_at"])
    .where("chat_id", "=", anyOf(chatIds))
    .execute();
  return new Map(rows.map((row) => [row.chat_id, row.updated_at]));
}

/** The snapshot of a share as JSON text; `open` is what visitors without an account get. */
export async function readSnapshot(
  db: ChatDatabase,
  shareId: string,
  which: "chat" | "open_chat",
): Promise<string | undefined> {
  const { rows } = await sql<{ text: string }>`
    select ${sql.ref(which)}::text as text from shared_chat where id = ${shareId}`.execute(db);
  return rows[0]?.text;
}

/** The files that a share opens. */
export async function readShownFiles(db: ChatDatabase, shareId: string): Promise<string[]> {
  const row = await db
    .selectFrom("shared_chat")
    .select("file_ids")
    .where("id", "=", shareId)
    .executeTakeFirst();
  return row?.file_ids ?? [];
}

/** The leaf that a snapshot shows. */
export async function readShownMessage(db: ChatDatabase, shareId: string): Promise<string | null> {
  const { rows } = await sql<{ id: string | null }>`
    select chat #>> '{history,currentId}' as id from shared_chat where id = ${shareId}`.execute(db);
  return rows[0]?.id ?? null;
}

export interface Snapshot {
  readonly title: string;
  /** JSON text. */
  readonly chat: string;
  readonly openChat: string;
  readonly fileIds: readonly string[];
}

/** Stores what a chat looks like now; the link of a chat that was shared before stays. Resolves to the share's id. */
export async function saveSnapshot(
  tx: ChatDatabase,
  chat: { id: string; user_id: string },
  { title, chat: text, openChat, fileIds }: Snapshot,
): Promise<string> {
  const now = seconds();
  const { rows } = await sql<{ id: string }>`
    insert into shared_chat (id, chat_id, user_id, title, chat, open_chat, file_ids, created_at, updated_at)
    values (${randomUUID()}, ${chat.id}, ${chat.user_id}, ${title}, cast(${text} as jsonb), cast(${openChat} as jsonb),
      ${[...fileIds]}::text[], ${now}, ${now})
    on conflict (chat_id) do update set title = excluded.title, chat = excluded.chat,
      open_chat = excluded.open_chat, file_ids = excluded.file_ids, updated_at = ${now}
    returning id`.execute(tx);
  const id = (rows[0] as { id: string }).id;
  await tx.updateTable("chat").set({ share_id: id }).where("id", "=", chat.id).execute();
  return id;
}

/** Which of some chats exist, so that grants of others can be swept. */
export async function existingChats(db: ChatDatabase, ids: readonly string[]): Promise<string[]> {
  const rows = await db.selectFrom("chat").select("id").where("id", "in", ids).execute();
  return rows.map(({ id }) => id);
}
