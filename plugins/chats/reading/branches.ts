import { sql } from "kysely";
import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import type { ChatRow } from "../chat-store.ts";
import { joinParent } from "./ancestor-join.ts";
import { type Author, findAuthor, toLinks } from "./compose.ts";
import { readRows, rowSize } from "./message-rows.ts";
import type { ChatParts } from "../parts.ts";
import { readChildren } from "./read-branch.ts";
import type { ChatDatabase } from "../tables.ts";

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
  readonly role: string;
  readonly bytes: number;
}

/** What the messages of one page take at most, so that a chat opens as fast with 40 MB as with 40 KB. */
const maxPageBytes = 256 * 1024;

export type Branches = ReturnType<typeof createBranches>;

/** Long chats a page at a time (contract D.16). */
export function createBranches({ db, chats }: Pick<ChatParts, "db" | "chats">) {
  return {
    /** A page of the shown branch as JSON, oldest first: at least one message, at most `limit` or 256 KB. */
    async page(caller: Principal, id: string, wish: PageWish): Promise<Buffer> {
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
      const author = await findAuthor(db, chat.user_id);
      const messages = await composeSteps(db, chat.id, { steps: taken.toReversed(), author });
      const rest = { before: last?.parent_id ? last.id : null, current_message_id: chat.current_message_id };
      return Buffer.from(`{"messages":[${messages}],${JSON.stringify(rest).slice(1)}`);
    },
  };
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
  // Links, author and commas are about three hundred bytes.
  const columns = sql`m.id, m.parent_id, m.role, ${rowSize} + 300 as bytes`;
  const { rows } = await sql<Step>`
    with recursive path as (
      select 1 as depth, ${columns} from chat_message as m where m.chat_id = ${chatId} and m.id = ${from}
      union all
      select path.depth + 1, m.* from path ${joinParent(chatId, columns)}
      where path.depth < ${limit})
    select id, parent_id, role, bytes from path order by depth`.execute(db);
  return rows;
}

async function composeSteps(
  db: ChatDatabase,
  chatId: string,
  { steps, author }: { steps: readonly Step[]; author: Author | undefined },
): Promise<string> {
  const ids = steps.map(({ id }) => id);
  const texts = await readRows(db, chatId, ids);
  const children = await readChildren(db, chatId, steps);
  const composed = steps.flatMap((step) => {
    const text = texts.get(step.id);
    return text === undefined
      ? []
      : [`${toLinks(step, { children: children.get(step.id) ?? [], author })}${text.members}}`];
  });
  return composed.join(",");
}
