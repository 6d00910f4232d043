import { sql } from "kysely";
import { anyOf, toJson } from "#storage/values.ts";
import { AppError } from "#kernel/errors.ts";
import type { ChatRow } from "../chat-store.ts";
import type { ChatDatabase } from "../tables.ts";
import { toTagId, untagged } from "./tag-names.ts";

export interface TagRecord {
  id: string;
  name: string;
  user_id: string;
  meta: Record<string, unknown> | null;
}

type Tagged = Pick<ChatRow, "id" | "user_id" | "meta">;

/** Ids of the tags a chat carries. */
export function tagsOf({ meta }: Pick<ChatRow, "meta">): string[] {
  const { tags } = meta;
  return Array.isArray(tags) ? tags.filter((tag) => typeof tag === "string") : [];
}

/**
 * Tag names that a new chat brings along. Those of its record count, where it has some; those of the chat object then
 * only tell how they are written.
 */
export function tagNamesOf(
  meta: Record<string, unknown> | undefined,
  sent: readonly unknown[] | null | undefined,
): string[] {
  const own = tagsOf({ meta: meta ?? {} });
  const ids = new Set(own.map(toTagId));
  const written = (sent ?? []).flatMap((tag) => toName(tag) ?? []);
  const names = Array.isArray(meta?.["tags"])
    ? [...own, ...written.filter((name) => ids.has(toTagId(name)))]
    : written;
  return [...new Set(names.filter((name) => ![untagged, ""].includes(toTagId(name)) && name.length <= 200))];
}

/** Clients name a tag by a text or, as lists of tags have it, by an object with its name. */
function toName(tag: unknown): string | undefined {
  const name = typeof tag === "object" && tag !== null && "name" in tag ? tag.name : tag;
  return typeof name === "string" ? name : undefined;
}

/** Tags a chat; resolves to its new `meta`. */
export async function addTags(
  tx: ChatDatabase,
  chat: Tagged,
  names: readonly string[],
): Promise<Record<string, unknown>> {
  const rows = new Map(names.map((name) => [toTagId(name), name.trim()]));
  if (rows.has(untagged) || rows.has("")) {
    throw new AppError("invalid", `A tag cannot be called "${untagged}" or have no name.`);
  }
  for (const [id, name] of rows) {
    await tx
      .insertInto("tag")
      .values({ id, name, user_id: chat.user_id, meta: null })
      .onConflict((conflict) => conflict.columns(["user_id", "id"]).doNothing())
      .execute();
  }
  return await setTags(tx, chat, [...new Set([...tagsOf(chat), ...rows.keys()])]);
}

/** Makes `tags` the tags of a chat, and forgets those that no chat carries any more. */
export async function setTags(
  tx: ChatDatabase,
  chat: Tagged,
  tags: readonly string[],
): Promise<Record<string, unknown>> {
  const meta = { ...chat.meta, tags };
  const gone = tagsOf(chat).filter((tag) => !tags.includes(tag));
  await tx
    .updateTable("chat")
    .set({ meta: toJson(meta) })
    .where("id", "=", chat.id)
    .execute();
  await forgetUnused(tx, chat.user_id, gone);
  return meta;
}

/** Removes those of some tags that no chat of the account carries. */
export async function forgetUnused(tx: ChatDatabase, userId: string, tags: readonly string[]): Promise<void> {
  if (tags.length > 0) {
    await sql`delete from tag where user_id = ${userId} and id = ${anyOf(tags)} and not exists (
      select 1 from chat where chat.user_id = ${userId} and (chat.meta -> 'tags') ? tag.id)`.execute(tx);
  }
}

/** An account's tags by name; `ids` narrows them down, in that order. */
export async function listTags(
  db: ChatDatabase,
  userId: string,
  ids?: readonly string[],
): Promise<TagRecord[]> {
  const all = db.selectFrom("tag").select(["id", "name", "user_id", "meta"]).where("user_id", "=", userId);
  const rows = await (ids === undefined ? all : all.where("id", "=", anyOf(ids))).orderBy("name").execute();
  return ids === undefined ? rows : rows.toSorted((a, b) => ids.indexOf(a.id) - ids.indexOf(b.id));
}
