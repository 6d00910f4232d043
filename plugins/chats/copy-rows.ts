import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { AppError } from "#kernel/errors.ts";
import { seconds } from "#storage/clock.ts";
import { anyOf, toJson } from "#storage/values.ts";
import { type ChatRow, insertChat, isRunning, lockChat } from "./chat-store.ts";
import { copyFiles } from "./files/file-links.ts";
import { stripForeignFiles } from "./files/foreign-files.ts";
import type { ChatParts } from "./parts.ts";
import { rowSize } from "./reading/message-rows.ts";
import { requireRow } from "./require-row.ts";
import { inSlices, parentsFirst, sliceBytes, toSlices, unfinished } from "./slices.ts";
import type { ChatDatabase } from "./tables.ts";
import { tagsOf } from "./tags/tag-store.ts";

export interface CopyWish {
  /** Of the copy, from that of the original. */
  toTitle(title: string): string;
  /** The branch that is copied ends here; left out, every message is copied. Null stands for the shown leaf. */
  readonly leaf?: string | null;
}

interface Source {
  readonly from: ChatRow;
  /** Changes with every change of the chat. */
  readonly version: string;
  readonly leaf: string | null;
  /** What is copied, parents before their children. */
  readonly messages: readonly SourceMessage[];
}

interface SourceMessage {
  readonly id: string;
  readonly parent_id: string | null;
  readonly size: number;
}

/**
 * Copies a chat inside the database: what was said does not travel. A long one is copied in slices, and shows once it is
 * whole. Throws `conflict` while a run writes into it, and when it changes while it is copied.
 */
export async function copyChat(
  { db, transaction, limits }: Pick<ChatParts, "db" | "transaction" | "limits">,
  id: string,
  wish: CopyWish,
): Promise<ChatRow> {
  const source = await transaction((tx) => readSource(tx, id, wish));
  const size = source.messages.reduce((sum, message) => sum + message.size, 0);
  limits.copyBytes.take(source.from.user_id, size);
  if (size <= sliceBytes) {
    return await transaction(async (tx) => {
      await requireUnchanged(tx, source);
      const row = await insertCopy(tx, source, wish);
      await copyMessages(tx, { from: id, to: row.id }, source.messages);
      return await finishCopy(tx, id, row);
    });
  }
  const row = await insertCopy(db, source, wish);
  try {
    await inSlices(
      toSlices(source.messages, (message) => message.size),
      (slice) => copyMessages(db, { from: id, to: row.id }, slice),
    );
    return await transaction(async (tx) => {
      await requireUnchanged(tx, source);
      return await finishCopy(tx, id, row);
    });
  } catch (error) {
    await db.deleteFrom("chat").where("id", "=", row.id).execute();
    throw error;
  }
}

async function lockIdle(tx: ChatDatabase, id: string): Promise<ChatRow> {
  const row = requireRow(await lockChat(tx, id));
  if (await isRunning(tx, id)) {
    throw new AppError("conflict", "A reply is being written in this chat. Wait for it or stop it first.");
  }
  return row;
}

async function readSource(tx: ChatDatabase, id: string, { leaf: wanted }: CopyWish): Promise<Source> {
  const from = await lockIdle(tx, id);
  const { rows } = await sql<SourceMessage>`
    select m.id, m.parent_id, ${rowSize} as size from chat_message as m where m.chat_id = ${id}`.execute(tx);
  const leaf = wanted === undefined ? undefined : (wanted ?? from.current_message_id);
  const messages = leaf === undefined ? rows : toBranch(rows, leaf);
  return {
    from,
    version: await readVersion(tx, id),
    leaf: leaf ?? null,
    messages: parentsFirst(messages, ({ parent_id }) => parent_id),
  };
}

function toBranch(rows: readonly SourceMessage[], leaf: string | null): SourceMessage[] {
  const byId = new Map(rows.map((row) => [row.id, row]));
  const branch: SourceMessage[] = [];
  for (let at = byId.get(leaf ?? ""); at !== undefined; at = byId.get(at.parent_id ?? "")) {
    branch.push(at);
  }
  if (branch.length === 0) {
    throw new AppError("not_found", "Message not found");
  }
  return branch;
}

async function readVersion(tx: ChatDatabase, id: string): Promise<string> {
  const { rows } = await sql<{ version: string }>`
    select xmin::text || ctid::text as version from chat where id = ${id}`.execute(tx);
  return rows[0]?.version ?? "";
}

async function requireUnchanged(tx: ChatDatabase, { from, version }: Source): Promise<void> {
  await lockIdle(tx, from.id);
  if ((await readVersion(tx, from.id)) !== version) {
    throw new AppError("conflict", "The chat was changed while it was copied. Copy it again.");
  }
}

async function insertCopy(db: ChatDatabase, { from, leaf }: Source, { toTitle }: CopyWish): Promise<ChatRow> {
  return await insertChat(db, {
    id: randomUUID(),
    user_id: from.user_id,
    title: toTitle(from.title),
    chat: { ...from.chat, originalChatId: from.id, ...(leaf ? { branchPointMessageId: leaf } : {}) },
    meta: { ...(tagsOf(from).length > 0 ? { tags: tagsOf(from) } : {}), ...unfinished },
    folder_id: from.folder_id,
    ...(from.variables && { variables: from.variables }),
    current_message_id: leaf ?? from.current_message_id,
  });
}

async function copyMessages(
  db: ChatDatabase,
  { from, to }: { from: string; to: string },
  messages: readonly SourceMessage[],
): Promise<void> {
  await sql`insert into chat_message (chat_id, user_id, id, parent_id, position, role, content, output, model_id, files,
      sources, embeds, meta, done, status_history, error, usage, context_summary, extra, created_at, updated_at)
    select ${to}, m.user_id, m.id, m.parent_id, m.position, m.role, m.content, m.output, m.model_id, m.files,
      m.sources, m.embeds, m.meta, m.done, m.status_history, m.error, m.usage, m.context_summary, m.extra,
      m.created_at, ${seconds()}
    from chat_message as m where m.chat_id = ${from} and m.id = ${anyOf(messages.map(({ id }) => id))}`.execute(
    db,
  );
}

/** The copy's files, and from now on it shows. */
async function finishCopy(tx: ChatDatabase, from: string, row: ChatRow): Promise<ChatRow> {
  await copyFiles(tx, from, row);
  const chat = await stripForeignFiles(tx, row);
  const meta = tagsOf(row).length > 0 ? { tags: tagsOf(row) } : {};
  await tx
    .updateTable("chat")
    .set({ meta: toJson(meta) })
    .where("id", "=", row.id)
    .execute();
  return { ...row, chat, meta };
}
