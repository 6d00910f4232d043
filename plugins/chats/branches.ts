import { type RawBuilder, sql } from "kysely";
import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import type { ChatRow } from "./chat-store.ts";
import { readMessageTexts, withLinks } from "./compose.ts";
import { type MessageRow, messageSelection, toMessageValue } from "./message-rows.ts";
import { findChildren } from "./message-store.ts";
import type { ChatParts } from "./parts.ts";
import type { ChatMessage } from "./service.ts";
import { tailsSize } from "./tails.ts";
import type { ChatDatabase } from "./tables.ts";

export interface PageWish {
  /** Messages before this one. */
  readonly before?: string | undefined;
  /** The end of the branch; the shown leaf when left out. */
  readonly leaf?: string | undefined;
  readonly limit: number;
}

interface Step {
  readonly id: string;
  readonly parent_id: string | null;
  readonly bytes: number;
}

interface BranchWish {
  readonly leaf: string;
  /** Messages at the end of the branch; all of them when left out. */
  readonly limit?: number;
  readonly sinceSummary?: boolean;
}

/** More messages than any chat has. */
const maxBranch = 1_000_000;

/** What the messages of one page take at most, so that a chat opens as fast with 40 MB as with 40 KB. */
const maxPageBytes = 256 * 1024;

export type Branches = ReturnType<typeof createBranches>;

/** Long chats a page at a time (contract D.16). */
export function createBranches({ db, chats }: Pick<ChatParts, "db" | "chats">) {
  return {
    /** A page of the shown branch as JSON text, oldest first: at least one message, at most `limit` or 256 KB. */
    async page(caller: Principal, id: string, wish: PageWish): Promise<string> {
      const chat = await chats.load(caller, id, "read");
      const steps = await stepsOf(db, chat, wish);
      const taken: Step[] = [];
      let bytes = 0;
      for (const step of steps.slice(0, wish.limit)) {
        bytes += step.bytes;
        if (taken.length > 0 && bytes > maxPageBytes) {
          break;
        }
        taken.push(step);
      }
      const last = taken.at(-1);
      const messages = await composeSteps(db, chat.id, taken.toReversed());
      const rest = { before: last?.parent_id ? last.id : null, current_message_id: chat.current_message_id };
      return `{"messages":[${messages.join(",")}],${JSON.stringify(rest).slice(1)}`;
    },
  };
}

/**
 * The messages from the root to a leaf, or the last of them, as values. With `sinceSummary` only those from the last
 * summary before the leaf on, when there is one: it stands for everything before it.
 */
export async function readBranch(
  db: ChatDatabase,
  chatId: string,
  { leaf, limit = maxBranch, sinceSummary = false }: BranchWish,
): Promise<ChatMessage[]> {
  const summed = sinceSummary ? sql`and (path.depth = 1 or not path.is_summed)` : sql``;
  const { rows } = await sql<MessageRow>`
    with recursive path (id, parent_id, depth, is_summed) as (
      select id, parent_id, 1, ${isSummed(sql`context_summary`)} from chat_message
      where chat_id = ${chatId} and id = ${leaf}
      union all
      select m.id, m.parent_id, path.depth + 1, ${isSummed(sql`m.context_summary`)} from path
        join chat_message as m on m.chat_id = ${chatId} and m.id = path.parent_id
      where path.depth < ${limit} ${summed})
    select ${messageSelection} from path join chat_message as m on m.chat_id = ${chatId} and m.id = path.id
    order by path.depth desc`.execute(db);
  const children = await readChildren(db, chatId, rows);
  return rows.map((row) => ({
    id: row.id,
    parentId: row.parent_id,
    childrenIds: children.get(row.id) ?? [],
    ...toMessageValue(row),
  }));
}

async function stepsOf(db: ChatDatabase, chat: ChatRow, { before, leaf, limit }: PageWish): Promise<Step[]> {
  const start = before ?? leaf ?? chat.current_message_id;
  if (start === null) {
    return [];
  }
  // The one it begins before is on the way, and not on the page.
  const steps = await climb(db, chat.id, { from: start, limit: before === undefined ? limit : limit + 1 });
  if (steps.length === 0) {
    throw new AppError("not_found", "Message not found");
  }
  return before === undefined ? steps : steps.slice(1);
}

/** From a message towards the root: as many rows as are asked for, however long the chat is. */
async function climb(
  db: ChatDatabase,
  chatId: string,
  { from, limit }: { from: string; limit: number },
): Promise<Step[]> {
  const { rows } = await sql<Step>`
    with recursive path (id, parent_id, depth) as (
      select id, parent_id, 1 from chat_message where chat_id = ${chatId} and id = ${from}
      union all
      select m.id, m.parent_id, path.depth + 1 from path
        join chat_message as m on m.chat_id = ${chatId} and m.id = path.parent_id
      where path.depth < ${limit})
    select path.id, path.parent_id, (coalesce(octet_length(m.content::text), 0) + coalesce(octet_length(m.output::text), 0)
      + coalesce(octet_length(m.sources::text), 0) + coalesce(octet_length(m.files::text), 0)
      + coalesce(octet_length(m.status_history::text), 0) + coalesce(octet_length(m.embeds::text), 0)
      + octet_length(m.extra::text) + 2 * ${tailsSize} + 300)::int as bytes
    from path join chat_message as m on m.chat_id = ${chatId} and m.id = path.id
    order by path.depth`.execute(db);
  return rows;
}

async function composeSteps(db: ChatDatabase, chatId: string, steps: readonly Step[]): Promise<string[]> {
  const ids = steps.map(({ id }) => id);
  const texts = await readMessageTexts(db, chatId, ids);
  const children = await readChildren(db, chatId, steps);
  return steps.flatMap((step) => {
    const text = texts.get(step.id);
    return text === undefined ? [] : [withLinks(text, step, children.get(step.id) ?? [])];
  });
}

/** Whether a message holds a summary: white space says nothing. */
function isSummed(summary: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`coalesce(${summary} ~ '\\S', false)`;
}

/** The ids of the children of some messages, in order. */
async function readChildren(
  db: ChatDatabase,
  chatId: string,
  messages: readonly { readonly id: string }[],
): Promise<Map<string, string[]>> {
  const children = new Map(messages.map(({ id }) => [id, [] as string[]]));
  if (messages.length > 0) {
    for (const { id, parent_id } of await findChildren(db, chatId, [...children.keys()])) {
      children.get(parent_id as string)?.push(id);
    }
  }
  return children;
}
