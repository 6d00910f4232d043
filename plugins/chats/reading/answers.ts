import type { Principal } from "#kernel/access/principal.ts";
import { type BodyStep, LongBody } from "#kernel/http/long-body.ts";
import { type Reply, type RequestInfo, reply } from "#kernel/http/route.ts";
import { readChatFiles } from "../files/chat-files.ts";
import { type ChatRecord, type ChatRow, chatColumns, recordColumns } from "../chat-store.ts";
import { chatPieces, type ChatSource, collect, opened, openChat } from "./compose.ts";
import type { ChatDatabase } from "../tables.ts";

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
  return toJsonReply(wirePieces(row, await readNamed(db, row), await more()));
}

/** The chat as this caller may see it: how its owner keeps it is nobody's business but theirs and administrators'. */
export function toShown(caller: Principal, row: ChatRow): ChatRow {
  return row.user_id === caller.userId || caller.role === "admin"
    ? row
    : { ...row, share_id: null, pinned: false, meta: {}, variables: {}, last_read_at: null };
}

/** A new chat whole, as one text: such an answer is kept for repeats. */
export async function answerWhole(db: ChatDatabase, row: ChatRow): Promise<Reply> {
  return reply(await collect(wirePieces(row, await readNamed(db, row))), {
    headers: { "content-type": "application/json; charset=utf-8" },
  });
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
): Promise<{ text: string; branch: readonly string[]; files: readonly unknown[] }> {
  const { chat, files: all } = await readParts(db, row);
  const files = rewrite.files(all);
  const text = await collect(chatPieces(row, { chat, files, each: rewrite.message }));
  return { text, branch: chat.branch, files };
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
      yield* wirePieces(row, await readNamed(db, row));
      after = row.id;
    }
  }
  yield "]";
}

async function readParts(db: ChatDatabase, row: ChatRow, options: { isNamed?: boolean } = {}) {
  const [chat, files] = await Promise.all([
    openChat(db, row, options),
    readChatFiles(db, row.id, row.chat["files"]),
  ]);
  return { chat, files };
}

/** What an answer shows: user messages name who wrote them. */
const readNamed = (db: ChatDatabase, row: ChatRow) => readParts(db, row, { isNamed: true });

async function* wirePieces(
  row: ChatRow,
  parts: ChatSource,
  more: Readonly<Record<string, unknown>> = {},
): AsyncGenerator<BodyStep> {
  const record = toRecord(row);
  const meta = { ...record.meta, task_id: parts.chat.runId };
  yield `${opened({ ...record, meta, context_usage: null, ...more })}"chat":`;
  // A share is always the snapshot of one moment.
  const share_mode = row.share_id === null ? null : "snapshot";
  yield* chatPieces(row, { ...parts, more: { share_mode } });
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
