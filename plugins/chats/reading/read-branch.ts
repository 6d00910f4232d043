import { type RawBuilder, sql } from "kysely";
import { toList } from "#config/json-values.ts";
import { withContentText } from "#kernel/completion/content-text.ts";
import { joinParent } from "./ancestor-join.ts";
import { readTree, toPath } from "./chat-tree.ts";
import { rowSize, rowVersion } from "./message-rows.ts";
import { findChildren } from "../tree/message-store.ts";
import { type Readable, readTexts } from "./read-texts.ts";
import type { ChatMessage } from "../service.ts";
import type { ChatDatabase } from "../tables.ts";

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
  const { steps, links } = await readSteps(db, chatId, wish);
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

interface Steps {
  readonly steps: readonly Step[];
  /** The ids of the children of each step. */
  readonly links: Promise<ReadonlyMap<string, readonly string[]>>;
}

/** Each step up is a look-up of its own; from about here on reading the tree of the whole chat is quicker. */
const fewSteps = 64;

async function readSteps(db: ChatDatabase, chatId: string, wish: BranchWish): Promise<Steps> {
  const { limit = maxBranch } = wish;
  const steps = await climb(db, chatId, { ...wish, limit: Math.min(limit, fewSteps) });
  return limit > fewSteps && steps.length === fewSteps
    ? await walk(db, chatId, { ...wish, limit })
    : { steps, links: readChildren(db, chatId, steps) };
}

/** The steps of a long branch, out of the tree of its chat. */
async function walk(
  db: ChatDatabase,
  chatId: string,
  { leaf, limit, sinceSummary = false }: Required<Pick<BranchWish, "limit">> & BranchWish,
): Promise<Steps> {
  const [tree, summed] = await Promise.all([
    readTree(db, chatId),
    sinceSummary ? findSummed(db, chatId) : new Set<string>(),
  ]);
  const path = toPath(tree, leaf).slice(-limit);
  const from = path.findLastIndex((id, at) => at < path.length - 1 && summed.has(id));
  return {
    steps: path.slice(Math.max(0, from)).flatMap((id) => tree.byId.get(id) ?? []),
    links: Promise.resolve(tree.children),
  };
}

async function findSummed(db: ChatDatabase, chatId: string): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{ id: string }>`
    select m.id from chat_message as m where m.chat_id = ${chatId} and ${isSummed}`.execute(db);
  return new Set(rows.map(({ id }) => id));
}

async function climb(
  db: ChatDatabase,
  chatId: string,
  { leaf, limit, sinceSummary = false }: Required<Pick<BranchWish, "limit">> & BranchWish,
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

/** The files of the questions on a branch, first to last: also of those that a summary stands for. */
export async function readBranchFiles(db: ChatDatabase, chatId: string, leaf: string): Promise<unknown[]> {
  const rows = await db
    .selectFrom("chat_message")
    .select(["id", "files"])
    .where("chat_id", "=", chatId)
    .where("role", "=", "user")
    .where("files", "is not", null)
    .execute();
  const byQuestion = new Map(rows.map(({ id, files }) => [id, toList(files)]));
  const path = byQuestion.size === 0 ? [] : toPath(await readTree(db, chatId), leaf);
  return path.flatMap((id) => byQuestion.get(id) ?? []);
}

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
