import type { Principal } from "#kernel/access/principal.ts";
import { type BodyStep, LongBody } from "#kernel/http/long-body.ts";
import { type Reply, type RequestInfo, reply } from "#kernel/http/route.ts";
import { readChatFiles } from "../files/chat-files.ts";
import { type ChatRecord, type ChatRow, chatColumns, recordColumns } from "../chat-store.ts";
import { chatPieces, type ChatSource, collect, findAuthor, opened, readTree, toPath } from "./compose.ts";
import type { ChatDatabase } from "../tables.ts";

/** A chat as the wire shows it. */
export type WireChat = ChatRecord & { readonly chat: Record<string, unknown> };

/**
 * Answers a chat whole, with further keys beside its record's, or only its record to who asks for that with
 * `Prefer: return=minimal` (RFC 7240).
 */
export async function answerChat(
  db: ChatDatabase,
  row: ChatRow,
  request: RequestInfo,
  more: () => Promise<Record<string, unknown>> = async () => ({}),
): Promise<ChatRecord | Reply> {
  if (/(?:^|[,;\s])return=minimal\b/i.test(String(request.headers["prefer"] ?? ""))) {
    return reply(toRecord(row), { headers: { "preference-applied": "return=minimal" } });
  }
  return toJsonReply(wirePieces(db, row, { parts: await readAnswer(db, row), more: await more() }));
}

/** The chat as this caller may see it: how its owner keeps it is nobody's business but theirs and administrators'. */
export function toShown(caller: Principal, row: ChatRow): ChatRow {
  return row.user_id === caller.userId || caller.role === "admin"
    ? row
    : { ...row, share_id: null, pinned: false, meta: {}, variables: {}, last_read_at: null };
}

/** A stored chat as a value; for answers that are kept for repeats. */
export async function readWhole(db: ChatDatabase, row: ChatRow): Promise<WireChat> {
  return JSON.parse(await collect(wirePieces(db, row, { parts: await readAnswer(db, row) }))) as WireChat;
}

/** What changes of a chat on its way into a text. */
interface Rewrites {
  /** Gets the JSON text of every message once; what it gives back stands in its place. */
  message: NonNullable<ChatSource["each"]>;
  /** Gets the chat's own list of files. */
  files(list: readonly unknown[]): readonly unknown[];
}

/** `chat` of a stored chat as JSON text. */
export async function readChatText(
  db: ChatDatabase,
  row: ChatRow,
  rewrite: Rewrites,
): Promise<{ text: string; path: string[]; files: readonly unknown[] }> {
  const { tree, files: all } = await readParts(db, row);
  const files = rewrite.files(all);
  const text = await collect(chatPieces(db, row, { tree, files, each: rewrite.message }));
  return { text, path: toPath(tree, row.current_message_id), files };
}

/** The record of a chat without its content. */
export function toRecord(row: ChatRow | ChatRecord): ChatRecord {
  return Object.fromEntries(recordColumns.map((column) => [column, row[column]])) as ChatRecord;
}

const chatsAtOnce = 50;

/** Every chat that `next` yields after an id, as one JSON array; a few are in memory at a time. */
export function answerAll(
  db: ChatDatabase,
  next: (after: string | undefined, limit: number) => Promise<ChatRow[]>,
): Reply {
  return toJsonReply(allPieces(db, next));
}

/** An answer of JSON text that is made while it is sent. */
export function toJsonReply(steps: AsyncIterable<BodyStep>): Reply {
  return reply(new LongBody(steps), {
    headers: { "content-type": "application/json; charset=utf-8" },
  });
}

async function* allPieces(
  db: ChatDatabase,
  next: (after: string | undefined, limit: number) => Promise<ChatRow[]>,
): AsyncGenerator<BodyStep> {
  yield "[";
  let after: string | undefined;
  for (let rows = await next(after, chatsAtOnce); rows.length > 0; rows = await next(after, chatsAtOnce)) {
    for (const row of rows) {
      yield after === undefined ? "" : ",";
      yield* wirePieces(db, row, { parts: await readAnswer(db, row) });
      after = row.id;
    }
  }
  yield "]";
}

async function readParts(db: ChatDatabase, row: ChatRow) {
  const tree = await readTree(db, row.id);
  return { tree, files: await readChatFiles(db, row.id, row.chat["files"]) };
}

/** What an answer names besides what is stored: who wrote the user's messages. */
async function readAnswer(db: ChatDatabase, row: ChatRow) {
  const [parts, author] = await Promise.all([readParts(db, row), findAuthor(db, row.user_id)]);
  return { ...parts, author };
}

interface WireOptions {
  readonly parts: ChatSource;
  /** Keys beside those of the record. */
  readonly more?: Readonly<Record<string, unknown>>;
}

async function* wirePieces(
  db: ChatDatabase,
  row: ChatRow,
  { parts, more }: WireOptions,
): AsyncGenerator<BodyStep> {
  const running = parts.tree.nodes.findLast(({ run_id: run }) => run !== null);
  const record = toRecord(row);
  const meta = { ...record.meta, task_id: running?.run_id ?? null };
  yield `${opened({ ...record, meta, context_usage: null, ...more })}"chat":`;
  // What is shared of a chat is always the snapshot of one moment.
  const share_mode = row.share_id === null ? null : "snapshot";
  yield* chatPieces(db, row, { ...parts, more: { share_mode } });
  yield "}";
}

/** The next chats of an owner (or of everybody) in the order of their ids. */
export function readNext(
  db: ChatDatabase,
  { userId, archived }: { userId?: string; archived?: boolean },
): (after: string | undefined, limit: number) => Promise<ChatRow[]> {
  return (after, limit) => {
    let query = db.selectFrom("chat").select(chatColumns).orderBy("id").limit(limit);
    query =
      userId === undefined ? query : query.where("user_id", "=", userId).where("is_internal", "=", false);
    query = archived === undefined ? query : query.where("archived", "=", archived);
    return (after === undefined ? query : query.where("id", ">", after)).execute();
  };
}
