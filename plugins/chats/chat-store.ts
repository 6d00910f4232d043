import type { Selectable } from "kysely";
import { seconds } from "#storage/clock.ts";
import { toJson } from "#storage/values.ts";
import type { ChatDatabase, ChatTable } from "./tables.ts";

/** The columns of a chat that the wire shows besides `chat`. */
export const recordColumns = [
  "id",
  "user_id",
  "title",
  "updated_at",
  "created_at",
  "share_id",
  "archived",
  "pinned",
  "meta",
  "variables",
  "folder_id",
  "tasks",
  "summary",
  "last_read_at",
  "current_message_id",
] as const;

export const chatColumns = [...recordColumns, "chat"] as const;

/** A chat without its messages. */
export type ChatRow = Pick<Selectable<ChatTable>, (typeof chatColumns)[number]>;

export type ChatRecord = Omit<ChatRow, "chat">;

export interface NewChat {
  readonly id: string;
  readonly user_id: string;
  readonly title: string;
  readonly chat: Record<string, unknown>;
  readonly meta?: Record<string, unknown>;
  readonly pinned?: boolean;
  readonly archived?: boolean;
  readonly folder_id?: string | null;
  readonly variables?: Record<string, unknown>;
  readonly current_message_id: string | null;
  readonly created_at?: number;
  readonly updated_at?: number;
}

export async function findChat(db: ChatDatabase, id: string): Promise<ChatRow | undefined> {
  return await db.selectFrom("chat").select(chatColumns).where("id", "=", id).executeTakeFirst();
}

/** The chat, held against every other change of its tree until the transaction ends. */
export async function lockChat(tx: ChatDatabase, id: string): Promise<ChatRow | undefined> {
  return await tx.selectFrom("chat").select(chatColumns).where("id", "=", id).forUpdate().executeTakeFirst();
}

export async function insertChat(tx: ChatDatabase, chat: NewChat): Promise<ChatRow> {
  const now = seconds();
  const created = chat.created_at ?? now;
  const values = {
    ...chat,
    chat: toJson(chat.chat),
    meta: toJson(chat.meta ?? {}),
    variables: toJson(chat.variables ?? {}),
    created_at: created,
    updated_at: chat.updated_at ?? created,
    // Its owner has seen a chat that is just made.
    last_read_at: Math.max(now, chat.updated_at ?? created),
  };
  return await tx.insertInto("chat").values(values).returning(chatColumns).executeTakeFirstOrThrow();
}

/** The times of a held chat whose messages its owner changed: who writes has read. */
export function timesAfter(chat: Pick<ChatRow, "updated_at">): { updated_at: number; last_read_at: number } {
  const now = Math.max(seconds(), chat.updated_at);
  return { updated_at: now, last_read_at: now };
}

/** Fields of a chat that change without its messages; `updated_at` stays. */
export async function setFields(
  db: ChatDatabase,
  id: string,
  fields: Partial<Pick<ChatRow, "pinned" | "archived" | "folder_id" | "share_id">>,
): Promise<ChatRow | undefined> {
  return await db
    .updateTable("chat")
    .set(fields)
    .where("id", "=", id)
    .returning(chatColumns)
    .executeTakeFirst();
}

/** True while a run writes into the chat. */
export async function isRunning(db: ChatDatabase, id: string): Promise<boolean> {
  const row = await db
    .selectFrom("chat_message")
    .select("id")
    .where("chat_id", "=", id)
    .where("run_id", "is not", null)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}
