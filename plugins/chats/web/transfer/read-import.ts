import type { ExportedChat, ExportedTree } from "./exported.ts";
import { isConversation, toChat } from "./read-conversations.ts";
import { isThread, toThreadChat } from "./read-threads.ts";

/** What a file of chats holds, ready to be sent. */
export interface ImportPlan {
  readonly chats: readonly ExportedChat[];
  readonly unread: readonly UnreadEntry[];
}

/** An entry of a file that becomes no chat, by its place in the file, its title and the reason. */
export interface UnreadEntry {
  readonly position: number;
  readonly title: string;
  readonly reason: "no chat" | "nothing said";
}

/**
 * Reads an export of this platform, of those that share its format, or the `conversations.json` of ChatGPT or Claude.
 * Throws for what is no JSON.
 */
export function readImport(text: string): ImportPlan {
  const chats: ExportedChat[] = [];
  const unread: UnreadEntry[] = [];
  for (const [index, entry] of toEntries(JSON.parse(text) as unknown).entries()) {
    const read = toExported(entry);
    if (typeof read === "string") {
      unread.push({ position: index + 1, title: titleOf(entry), reason: read });
    } else {
      chats.push(read);
    }
  }
  return { chats, unread };
}

/** What exports call the title of an entry. */
export function titleOf(entry: unknown): string {
  const { title, name } = (entry ?? {}) as { title?: unknown; name?: unknown };
  return [title, name].find((one): one is string => typeof one === "string") ?? "";
}

function toEntries(file: unknown): readonly unknown[] {
  if (Array.isArray(file)) {
    return file;
  }
  const { chats } = (file ?? {}) as { chats?: unknown };
  return Array.isArray(chats) ? chats : [file];
}

function toExported(entry: unknown): ExportedChat | UnreadEntry["reason"] {
  if (typeof entry !== "object" || entry === null) {
    return "no chat";
  }
  if (isConversation(entry) || isThread(entry)) {
    const chat = isThread(entry) ? toThreadChat(entry) : toChat(entry);
    return Object.keys(chat.chat.history?.messages ?? {}).length > 0 ? chat : "nothing said";
  }
  const { chat } = entry as { chat?: unknown };
  if (isTree(chat)) {
    return entry as ExportedChat;
  }
  // Old exports hold the chat itself without its record.
  return isTree(entry) ? { title: entry.title ?? "", chat: entry } : "no chat";
}

function isTree(value: unknown): value is ExportedTree {
  const { history, messages } = (value ?? {}) as { history?: unknown; messages?: unknown };
  return (typeof history === "object" && history !== null) || Array.isArray(messages);
}

const maxPieceBytes = 4_000_000;
const maxPieceChats = 50;

/** Parts of an import that are sent one after the other, so that progress shows and no request grows too large. */
export function toPieces(chats: readonly ExportedChat[]): ExportedChat[][] {
  const pieces: ExportedChat[][] = [];
  let bytes = 0;
  for (const chat of chats) {
    const size = JSON.stringify(chat).length;
    const last = pieces.at(-1);
    if (!last || last.length >= maxPieceChats || bytes + size > maxPieceBytes) {
      pieces.push([chat]);
      bytes = size;
    } else {
      last.push(chat);
      bytes += size;
    }
  }
  return pieces;
}
