import { type RawBuilder, sql } from "kysely";
import { AppError } from "#kernel/errors.ts";
import { seconds } from "#storage/clock.ts";
import { lockChat } from "../chat-store.ts";
import { relinkFiles } from "../files/file-links.ts";
import type { FileLinks } from "../files/message-files.ts";
import { type Kept, type MessageEvent, requireSize, toKept } from "./message-events.ts";
import { withText } from "./output-text.ts";
import type { Replies } from "./service-types.ts";
import { toStorableJson } from "../storable.ts";
import { addTags, tagNamesOf } from "../tags/tag-store.ts";
import type { ChatDatabase, Transact } from "../tables.ts";

/** Entries of one list of a message, and bytes of a list or a text: what events may make of a message. */
const maxEntries = 1_000;
const maxBytes = 16 * 1024 * 1024;

interface Parts extends FileLinks {
  readonly db: ChatDatabase;
  readonly transaction: Transact;
}

interface Place {
  readonly chatId: string;
  readonly messageId: string;
  readonly userId: string;
}

/** Stores what events leave behind (contract §3.4). Everything is asked of the owner's messages only. */
export function createEventKeeper(parts: Parts): Pick<Replies, "applyEvent"> {
  return {
    async applyEvent(owner, { chatId, messageId }, event: MessageEvent) {
      requireSize(event);
      const kept = toKept(event);
      const place = { chatId, messageId, userId: owner.userId };
      if (kept === undefined) {
        return false;
      }
      if (kept.kind === "list" && kept.column === "files") {
        await parts.linkFiles(owner, place, kept.entries);
      }
      return await keep(parts, place, kept);
    },
  };
}

function keep({ db, transaction }: Parts, place: Place, kept: Kept): Promise<boolean> {
  switch (kept.kind) {
    case "list":
      return keepList(db, place, kept);
    case "text":
      return transaction((tx) => keepText(tx, place, kept));
    case "key":
      return set(db, place, sql`extra = extra || jsonb_build_object(${kept.key}::text, ${json(kept.value)})`);
    case "error":
      return set(db, place, sql`error = ${json(kept.error)}`);
    case "title":
      return keepTitle(db, place, kept.title);
    case "tags":
      return transaction((tx) => keepTags(tx, place, kept.names));
  }
}

/** One statement, so that two events at once both stay. A status says nothing new: the chat keeps its place in lists. */
async function keepList(
  db: ChatDatabase,
  place: Place,
  { column, entries, way }: Extract<Kept, { kind: "list" }>,
): Promise<boolean> {
  const [target, added] = [sql.ref(column), json(entries)];
  const list = { append: sql`m.list || ${added}`, prepend: sql`${added} || m.list`, replace: added }[way];
  const fits =
    way === "replace"
      ? sql`true`
      : sql`jsonb_array_length(m.list) + ${entries.length} <= ${maxEntries} and octet_length(m.list::text) < ${maxBytes}`;
  const { rows } = await sql<{ stored: boolean }>`
    with m as (
      select id, case when jsonb_typeof(${target}) = 'array' then ${target} else '[]'::jsonb end as list
      from chat_message where ${isAt(place)} for update),
    changed as (
      update chat_message as t set ${target} = ${list}, updated_at = ${seconds()}
      from m where t.chat_id = ${place.chatId} and t.id = m.id and ${fits} returning t.id)
    select exists (select 1 from changed) as stored from m`.execute(db);
  if (rows[0]?.stored === false) {
    throw new AppError("too_large", `The message cannot hold more ${names[column]}: it has ${limits}.`);
  }
  return rows.length > 0;
}

const limits = `${maxEntries.toLocaleString("en")} entries or 16 MB already`;
const names = { status_history: "statuses", sources: "sources", files: "files", embeds: "embeds" } as const;

/** False while a run writes the message: its text has one writer. */
async function keepText(
  tx: ChatDatabase,
  place: Place,
  { text, appends }: Extract<Kept, { kind: "text" }>,
): Promise<boolean> {
  // The chat first, like every change of what messages say.
  if ((await lockChat(tx, place.chatId)) === undefined) {
    return false;
  }
  const { rows } = await sql<{ run_id: string | null; bytes: number }>`
    select run_id, coalesce(octet_length(content::text), 0)::int as bytes
    from chat_message where ${isAt(place)} for update`.execute(tx);
  const [message] = rows;
  if (message === undefined || message.run_id !== null) {
    return false;
  }
  if (appends && message.bytes + Buffer.byteLength(text) > maxBytes) {
    throw new AppError("too_large", "The message's text has 16 MB already.");
  }
  const said = sql`${json(text)} #>> '{}'`;
  const longer = sql`case when jsonb_typeof(content) = 'array'
    then content || jsonb_build_array(jsonb_build_object('type', 'text', 'text', ${said}))
    else to_jsonb(coalesce(content #>> '{}', '') || (${said})) end`;
  const content = appends ? longer : json(text);
  await set(tx, place, sql`content = ${content}, output = ${withText({ output: sql`output`, content })}`);
  if (!appends) {
    await relinkFiles(tx, place.chatId, { messageIds: [place.messageId] });
  }
  await tx
    .updateTable("chat")
    .set((eb) => ({ updated_at: eb.fn<number>("greatest", ["updated_at", eb.val(seconds())]) }))
    .where("id", "=", place.chatId)
    .execute();
  return true;
}

async function set(db: ChatDatabase, place: Place, assignment: RawBuilder<unknown>): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update chat_message set ${assignment}, updated_at = ${seconds()} where ${isAt(place)}`.execute(db);
  return Number(numAffectedRows ?? 0) > 0;
}

async function keepTitle(db: ChatDatabase, { chatId, userId }: Place, title: string): Promise<boolean> {
  const { rows } = await sql<{ id: string }>`
    update chat set title = ${json(title)} #>> '{}' where id = ${chatId} and user_id = ${userId} returning id`.execute(
    db,
  );
  return rows.length > 0;
}

async function keepTags(
  tx: ChatDatabase,
  { chatId, userId }: Place,
  tagNames: readonly string[],
): Promise<boolean> {
  const chat = await lockChat(tx, chatId);
  if (chat === undefined || chat.user_id !== userId) {
    return false;
  }
  // Tags that a person set stay.
  await addTags(tx, chat, tagNamesOf(undefined, tagNames));
  return true;
}

function isAt({ chatId, messageId, userId }: Place): RawBuilder<unknown> {
  return sql`chat_id = ${chatId} and id = ${messageId} and user_id = ${userId}`;
}

function json(value: unknown): RawBuilder<unknown> {
  return sql`cast(cast(${toStorableJson(value)} as text) as jsonb)`;
}
