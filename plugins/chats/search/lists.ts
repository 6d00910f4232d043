import { sql, type SqlBool } from "kysely";
import { anyOf } from "#storage/values.ts";
import type { ChatDatabase } from "../tables.ts";

/** A chat as lists show it. */
export interface TitleRow {
  id: string;
  title: string;
  updated_at: number;
  created_at: number;
  last_read_at: number | null;
  archived: boolean;
  /** A piece of a message that fits a search. */
  snippet: string | null;
  /** A run is writing into it. */
  active: boolean;
}

export interface Order {
  readonly by: "updated_at" | "created_at" | "title";
  readonly direction: "asc" | "desc";
}

export interface Page {
  readonly limit: number;
  readonly offset: number;
}

/** Which of an account's chats; what is left out does not matter. */
export interface Filter {
  readonly archived?: boolean | undefined;
  readonly pinned?: boolean | undefined;
  readonly shared?: boolean | undefined;
  /** Folders, or null for chats in none. */
  readonly folder?: string | readonly string[] | null | undefined;
  /** Carries every one of these tag ids. */
  readonly tags?: readonly string[] | undefined;
  readonly untagged?: boolean | undefined;
  /** Part of the title. */
  readonly title?: string | undefined;
  /** Epoch seconds: changed at or after the one, and at or before the other. */
  readonly changedSince?: number | undefined;
  readonly changedUntil?: number | undefined;
  /** Leaves out this one. */
  readonly except?: string | undefined;
}

/** Page sizes of contract §0. */
export const pageSize = 60;
export const folderPageSize = 10;

export const newestFirst: Order = { by: "updated_at", direction: "desc" };

/** A page of a list; undefined for the whole list. */
export function toPage(page: number | undefined, size: number = pageSize): Page | undefined {
  return page === undefined ? undefined : { limit: size, offset: (page - 1) * size };
}

/** What a list of titles is asked for. */
export interface TitleWish {
  readonly filter: Filter;
  readonly order?: Order;
  readonly page?: Page | undefined;
}

/** Titles of an account's chats, in order. */
export async function listTitles(
  db: ChatDatabase,
  userId: string,
  wish: TitleWish,
): Promise<(TitleRow & { share_id: string | null })[]> {
  return await titles(db, userId, wish).select("chat.share_id").execute();
}

/** The same as JSON text, made by the database: a whole list may have thousands of rows (performance.md, P19). */
export async function listTitlesAsJson(db: ChatDatabase, userId: string, wish: TitleWish): Promise<string> {
  const { rows } = await sql<{ list: string }>`
    select coalesce(json_agg(t), '[]')::text as list from (${titles(db, userId, wish)}) as t`.execute(db);
  return rows[0]?.list ?? "[]";
}

function titles(db: ChatDatabase, userId: string, { filter, order = newestFirst, page }: TitleWish) {
  const query = filtered(db, userId, filter)
    .select(["chat.id", "chat.title", "chat.updated_at", "chat.created_at", "chat.last_read_at"])
    .select(["chat.archived", sql<null>`null`.as("snippet")])
    .select(isActive.as("active"))
    .orderBy(order.by === "title" ? sql`lower(chat.title)` : sql.ref(`chat.${order.by}`), order.direction)
    .orderBy("chat.id");
  return page === undefined ? query : query.limit(page.limit).offset(page.offset);
}

export async function countChats(db: ChatDatabase, userId: string, filter: Filter): Promise<number> {
  const counted = filtered(db, userId, filter).select((eb) => eb.fn.countAll<number>().as("total"));
  return Number((await counted.executeTakeFirstOrThrow()).total);
}

/** An account's chats that fit a filter, as a query to narrow down further. */
export function filtered(db: ChatDatabase, userId: string, filter: Filter) {
  let query = db.selectFrom("chat").where("chat.user_id", "=", userId).where("chat.is_internal", "=", false);
  if (filter.archived !== undefined) {
    query = query.where("chat.archived", "=", filter.archived);
  }
  if (filter.pinned !== undefined) {
    query = query.where(sql<SqlBool>`coalesce(chat.pinned, false) = ${filter.pinned}`);
  }
  if (filter.shared !== undefined) {
    query = query.where("chat.share_id", filter.shared ? "is not" : "is", null);
  }
  if (filter.folder !== undefined) {
    query =
      filter.folder === null
        ? query.where("chat.folder_id", "is", null)
        : query.where("chat.folder_id", "=", anyOf([filter.folder].flat()));
  }
  if (filter.tags !== undefined && filter.tags.length > 0) {
    query = query.where(sql<SqlBool>`(chat.meta -> 'tags') ?& ${sql`${[...filter.tags]}::text[]`}`);
  }
  if (filter.changedSince !== undefined) {
    query = query.where("chat.updated_at", ">=", filter.changedSince);
  }
  if (filter.changedUntil !== undefined) {
    query = query.where("chat.updated_at", "<=", filter.changedUntil);
  }
  if (filter.except !== undefined) {
    query = query.where("chat.id", "<>", filter.except);
  }
  if (filter.untagged) {
    query = query.where(sql<SqlBool>`coalesce(chat.meta -> 'tags', '[]'::jsonb) = '[]'::jsonb`);
  }
  return filter.title === undefined || filter.title === ""
    ? query
    : query.where("chat.title", "ilike", `%${filter.title.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`);
}

/** True in SQL for a chat that a run writes into. With "limit" it is one look into a small index for each chat shown. */
export const isActive = sql<boolean>`(select true from chat_message as running
  where running.chat_id = chat.id and running.run_id is not null limit 1) is true`;
