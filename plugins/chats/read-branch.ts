import { type RawBuilder, sql } from "kysely";
import { withContentText } from "#kernel/completion/content-text.ts";
import { joinParent } from "./climb.ts";
import { rowSize, rowVersion } from "./message-rows.ts";
import { findChildren } from "./message-store.ts";
import { type Readable, readTexts } from "./read-texts.ts";
import type { ChatMessage } from "./service.ts";
import type { ChatDatabase } from "./tables.ts";

interface BranchWish {
  readonly leaf: string;
  /** Messages at the end of the branch; all of them when left out. */
  readonly limit?: number;
  readonly sinceSummary?: boolean;
}

interface Step extends Readable {
  readonly parent_id: string | null;
}

/** More messages than any chat has. */
const maxBranch = 1_000_000;

/**
 * The messages from the root to a leaf, or the last of them, as values. With `sinceSummary` only those from the last
 * summary before the leaf on, when there is one: it stands for everything before it.
 */
export async function readBranch(db: ChatDatabase, chatId: string, wish: BranchWish): Promise<ChatMessage[]> {
  const steps = await readSteps(db, chatId, wish);
  const links = readChildren(db, chatId, steps);
  // When the texts cannot be read nobody waits for it.
  links.catch(() => {});
  const messages: ChatMessage[] = [];
  for await (const texts of readTexts(db, chatId, steps)) {
    const children = await links;
    for (const [{ id, parent_id }, stored] of texts) {
      const message = { id, parentId: parent_id, childrenIds: children.get(id) ?? [], ...stored.value() };
      messages.push(stored.content === undefined ? message : withContentText(message, stored.content));
    }
  }
  return messages;
}

async function readSteps(
  db: ChatDatabase,
  chatId: string,
  { leaf, limit = maxBranch, sinceSummary = false }: BranchWish,
): Promise<Step[]> {
  const summed = sinceSummary ? sql`and (path.depth = 1 or not path.is_summed)` : sql``;
  const columns = sql`m.id, m.parent_id, ${isSummed} as is_summed, ${rowVersion} as version, ${rowSize} as size`;
  const { rows } = await sql<Step>`
    with recursive path as (
      select 1 as depth, ${columns} from chat_message as m where m.chat_id = ${chatId} and m.id = ${leaf}
      union all
      select path.depth + 1, m.* from path ${joinParent(chatId, columns)}
      where path.depth < ${limit} ${summed})
    select id, parent_id, version, size from path order by depth desc`.execute(db);
  return rows;
}

/** In SQL: whether the message `m` holds a summary; white space says nothing. */
const isSummed: RawBuilder<unknown> = sql`coalesce(m.context_summary ~ '\\S', false)`;

/** The ids of the children of some messages, in order. */
export async function readChildren(
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
