import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { seconds } from "#storage/clock.ts";
import type { Files } from "#plugins/files/service.ts";
import type { ChatKey } from "../tree/message-store.ts";
import { toBatches } from "../tree/message-store.ts";
import type { SentMessage } from "../tree/sent-tree.ts";
import type { ChatDatabase } from "../tables.ts";

/** Ids of the account's own files among those that were sent; looked up before the transaction that writes them. */
export type OwnFiles = ReadonlySet<string>;

interface Sent {
  readonly files?: readonly unknown[] | null | undefined;
  readonly messages: readonly SentMessage[];
}

/** Which files that are named belong to the owner of the chat. Others stay what they are: text without meaning. */
export async function findOwnFiles(
  files: Files,
  userId: string,
  { files: list, messages }: Sent,
): Promise<OwnFiles> {
  const named = new Set((list ?? []).flatMap(fileIdsOf));
  for (const { message } of messages) {
    filesOfMessage(message).forEach((id) => named.add(id));
  }
  const owners = named.size === 0 ? new Map<string, string>() : await files.owners([...named]);
  return new Set([...owners].filter(([, owner]) => owner === userId).map(([id]) => id));
}

/** The files that a message shows: its attachments, and pictures in its text. */
export function filesOfMessage(message: Readonly<Record<string, unknown>>): string[] {
  const { files, content } = message;
  const attached = Array.isArray(files) ? files.flatMap(fileIdsOf) : [];
  const shown = Array.isArray(content) ? content.flatMap(fileIdsOfBlock) : [];
  return [...attached, ...shown];
}

/** The file that a block of content shows as a picture. */
export function fileIdsOfBlock(block: unknown): string[] {
  return idInUrl(toBag(toBag(block)["image_url"])["url"]);
}

/**
 * The same, and those whose address stands in its words: a picture that a model drew is shown by them. Nobody's words
 * bring a file into a chat, but one that is there stays for them.
 */
export function filesAndAddresses(message: Readonly<Record<string, unknown>>): string[] {
  const { content } = message;
  const words = Array.isArray(content) ? content.map((block: unknown) => toBag(block)["text"]) : [content];
  const addresses = words.flatMap((text) => (typeof text === "string" ? [...text.matchAll(address)] : []));
  return [...filesOfMessage(message), ...addresses.map((match) => match[1] as string)];
}

/**
 * Makes `list` the chat's own list of files. Resolves to what is kept in the chat itself: the list with null where a
 * file of the account stands, whose entry is kept with its link.
 */
export async function setChatFiles(
  tx: ChatDatabase,
  chat: ChatKey,
  { list, own }: { list: readonly unknown[]; own: OwnFiles },
): Promise<unknown[]> {
  const taken = new Set<string>();
  const rows: { file_id: string; position: number; entry: unknown }[] = [];
  const kept = list.map((entry, position) => {
    const file_id = fileIdsOf(entry).find((id) => own.has(id));
    if (file_id === undefined || taken.has(file_id)) {
      return entry;
    }
    taken.add(file_id);
    rows.push({ file_id, position, entry });
    return null;
  });
  await tx
    .updateTable("chat_file")
    .set({ position: null, entry: null })
    .where("chat_id", "=", chat.id)
    .where("position", "is not", null)
    .execute();
  await link(tx, chat, rows);
  await tx
    .deleteFrom("chat_file")
    .where("chat_id", "=", chat.id)
    .where("position", "is", null)
    .where("message_id", "is", null)
    .execute();
  return kept;
}

/** Adds entries to the list of a chat that is held; those that are there are not added again. */
export async function addChatFiles(
  tx: ChatDatabase,
  chat: ChatKey & { readonly chat: Readonly<Record<string, unknown>> },
  { list, own }: { list: readonly unknown[]; own: OwnFiles },
): Promise<unknown[]> {
  const files = await readChatFiles(tx, chat.id, chat.chat["files"]);
  const known = new Set(files.map(nameOf));
  const added = list.filter((entry) => !known.has(nameOf(entry)));
  // Linked files are the owner's own.
  const all = new Set([...own, ...(await linkedFileIds(tx, chat.id))]);
  return await setChatFiles(tx, chat, { list: [...files, ...added], own: all });
}

/** The key of an entry: its type and id, where it has one. */
function nameOf(entry: unknown): string {
  const { type, id } = toBag(entry);
  return JSON.stringify(id === undefined ? entry : [type, id]);
}

/** Notes the files that messages show. */
export async function linkMessageFiles(
  tx: ChatDatabase,
  chat: ChatKey,
  { messages, own }: { messages: readonly SentMessage[]; own: OwnFiles },
): Promise<void> {
  const rows = new Map<string, { file_id: string; message_id: string }>();
  for (const { id, message } of own.size === 0 ? [] : messages) {
    for (const file_id of filesOfMessage(message)) {
      if (own.has(file_id) && !rows.has(file_id)) {
        rows.set(file_id, { file_id, message_id: id });
      }
    }
  }
  await link(tx, chat, [...rows.values()]);
}

/** The chat's own list of files as it was sent, without those that are gone. */
export async function readChatFiles(db: ChatDatabase, chatId: string, kept: unknown): Promise<unknown[]> {
  const rows = await db
    .selectFrom("chat_file")
    .select(["position", "entry"])
    .where("chat_id", "=", chatId)
    .where("position", "is not", null)
    .execute();
  const entries = new Map(rows.map(({ position, entry }) => [position, entry]));
  const list: unknown[] = Array.isArray(kept) ? kept : [];
  return list
    .map((entry, at) => entry ?? entries.get(at))
    .filter((entry) => entry !== undefined && entry !== null);
}

/** Ids of the files linked to a chat. */
export async function linkedFileIds(db: ChatDatabase, chatId: string): Promise<string[]> {
  const rows = await db.selectFrom("chat_file").select("file_id").where("chat_id", "=", chatId).execute();
  return rows.map(({ file_id }) => file_id);
}

/** The same for the owner of the chat, in its order: its own list first, then what its messages show. */
export async function linkedFilesOf(db: ChatDatabase, userId: string, chatId: string): Promise<string[]> {
  const rows = await db
    .selectFrom("chat_file")
    .innerJoin("chat", "chat.id", "chat_file.chat_id")
    .select("chat_file.file_id")
    .where("chat.id", "=", chatId)
    .where("chat.user_id", "=", userId)
    .orderBy(sql`chat_file.position nulls last`)
    .orderBy("chat_file.created_at")
    .orderBy("chat_file.file_id")
    .execute();
  return rows.map(({ file_id }) => file_id);
}

async function link(
  tx: ChatDatabase,
  chat: ChatKey,
  rows: readonly { file_id: string; message_id?: string; position?: number; entry?: unknown }[],
): Promise<void> {
  const now = seconds();
  for (const batch of toBatches(rows.map((row) => ({ id: randomUUID(), ...row })))) {
    await sql`insert into chat_file as held
        (id, user_id, chat_id, file_id, message_id, position, entry, created_at, updated_at)
      select p.id, ${chat.user_id}, ${chat.id}, p.file_id, p.message_id, p.position, p.entry, ${now}, ${now}
      from jsonb_to_recordset(cast(${batch} as jsonb))
        as p (id text, file_id text, message_id text, position int, entry jsonb)
      on conflict (chat_id, file_id) do update set
        message_id = coalesce(held.message_id, excluded.message_id),
        position = coalesce(excluded.position, held.position),
        entry = coalesce(excluded.entry, held.entry), updated_at = ${now}`.execute(tx);
  }
}

const uuid = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/i;
const address = /\/files\/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})/gi;
/** Entries that name something else than a file by their id. */
const notFiles = new Set(["collection", "folder", "note", "chat", "url", "text", "web_search"]);

/** The ids under which an entry may name a file. */
export function fileIdsOf(entry: unknown): string[] {
  const { type, id, url, file } = toBag(entry);
  if (notFiles.has(String(type))) {
    return [];
  }
  const direct = [id, toBag(file)["id"], url].filter(
    (value): value is string => typeof value === "string" && uuid.test(value) && value.length === 36,
  );
  return [...direct, ...idInUrl(url)];
}

function idInUrl(url: unknown): string[] {
  const found =
    typeof url === "string" && url.length < 2000 ? /\/files\/([^/?#]+)/.exec(url)?.[1] : undefined;
  return found !== undefined && uuid.test(found) && found.length === 36 ? [found] : [];
}

function toBag(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}
