import { sql } from "kysely";
import { type BodyStep, toPieces } from "#kernel/http/long-body.ts";
import type { ChatRow } from "../chat-store.ts";
import { type MessageText, rowSize, rowVersion } from "./message-rows.ts";
import { type Readable, readTexts } from "./read-texts.ts";
import { tagsOf } from "../tags/tag-store.ts";
import type { ChatDatabase } from "../tables.ts";

/** A message's place in the tree. */
export interface TreeNode extends Readable {
  readonly parent_id: string | null;
  readonly role: string;
  /** The run that writes it. */
  readonly run_id: string | null;
}

/** The account that wrote the user's messages of a chat: its owner, as answers name it. */
export interface Author {
  readonly id: string;
  readonly name: string;
  readonly email: string;
  readonly role: string;
}

/** Finds the author of an owner's messages; undefined when the account is gone. */
export async function findAuthor(db: ChatDatabase, ownerId: string): Promise<Author | undefined> {
  const query = db.selectFrom("user").select(["id", "name", "email", "role"]);
  return await query.where("id", "=", ownerId).executeTakeFirst();
}

/** The tree of a chat without what its messages say. */
export interface Tree {
  readonly nodes: readonly TreeNode[];
  readonly byId: ReadonlyMap<string, TreeNode>;
  readonly children: ReadonlyMap<string, readonly string[]>;
}

/** Reads the tree of a chat, oldest first. */
export async function readTree(db: ChatDatabase, chatId: string): Promise<Tree> {
  const { rows } = await sql<TreeNode & { position: number }>`
    select m.id, m.parent_id, m.role, m.run_id, m.position, ${rowVersion} as version, ${rowSize} as size
    from chat_message as m where m.chat_id = ${chatId} order by m.created_at, m.position, m.id`.execute(db);
  const children = new Map<string, string[]>();
  for (const { id, parent_id } of rows.toSorted(
    (a, b) => a.position - b.position || (a.id < b.id ? -1 : 1),
  )) {
    if (parent_id !== null) {
      const list = children.get(parent_id) ?? [];
      children.set(parent_id, list);
      list.push(id);
    }
  }
  return { nodes: rows, byId: new Map(rows.map((row) => [row.id, row])), children };
}

/** Ids from the root to a message. */
export function toPath(tree: Tree, leaf: string | null): string[] {
  const path: string[] = [];
  for (let at = leaf === null ? undefined : tree.byId.get(leaf); at !== undefined;) {
    path.push(at.id);
    at = at.parent_id === null ? undefined : tree.byId.get(at.parent_id);
  }
  return path.toReversed();
}

interface Links {
  readonly children: readonly string[];
  /** Named by the user's messages. */
  readonly author: Author | undefined;
}

/** Adds a message's links and its author to its stored part: pieces of one JSON text. */
export function withLinks(
  text: Buffer,
  { id, parent_id, role }: Pick<TreeNode, "id" | "parent_id" | "role">,
  { children, author }: Links,
): Buffer[] {
  const named = role === "user" && author !== undefined ? { user_id: author.id, user: author } : {};
  const links = JSON.stringify({ id, parentId: parent_id, childrenIds: children, ...named });
  // An empty object is two bytes long.
  return text.length === 2
    ? [Buffer.from(links)]
    : [Buffer.from(`${links.slice(0, -1)}, `), text.subarray(1)];
}

/** What stands in `chat` besides messages: what was sent, the defaults of what was not, title, tags and files. */
export function toChatHead(row: ChatRow, files: readonly unknown[]) {
  const { history, ...rest } = row.chat as Record<string, unknown> & { history?: Record<string, unknown> };
  return {
    head: { params: {}, ...rest, title: row.title, tags: tagsOf(row), files },
    history: history ?? {},
  };
}

export interface ChatSource {
  readonly tree: Tree;
  readonly files: readonly unknown[];
  /** Snapshots name nobody: visitors read them. */
  readonly author?: Author | undefined;
  /** What stands in `chat` of this answer besides. */
  readonly more?: Readonly<Record<string, unknown>>;
  /**
   * Gets the JSON text of every message once, a megabyte between two turns of the event loop; what it gives back stands
   * in its place.
   */
  each?(id: string, text: string): string | undefined;
}

/** Writes `chat` of a stored chat as JSON, piece by piece. Messages of the shown branch stand in it twice. */
export async function* chatPieces(
  db: ChatDatabase,
  row: ChatRow,
  { tree, files, author, more, each }: ChatSource,
): AsyncGenerator<BodyStep> {
  const { head, history } = toChatHead(row, files);
  const linked = (node: TreeNode, text: Buffer) =>
    withLinks(text, node, { children: tree.children.get(node.id) ?? [], author });
  const replaced = new Map<string, Buffer>();
  yield `${opened({ ...head, ...more })}"history":${opened({ ...history, currentId: row.current_message_id })}"messages":{`;
  yield* joined(readTexts(db, row.id, tree.nodes), (node, stored) => {
    const pieces = linked(node, stored);
    const other = each?.(node.id, String(Buffer.concat(pieces)));
    if (other !== undefined) {
      replaced.set(node.id, Buffer.from(other));
    }
    return [
      Buffer.from(`${JSON.stringify(node.id)}:`),
      ...(other === undefined ? pieces : [Buffer.from(other)]),
    ];
  });
  yield `}},"messages":[`;
  const path = toPath(tree, row.current_message_id).flatMap((id) => tree.byId.get(id) ?? []);
  yield* joined(readTexts(db, row.id, path), (node, stored) => {
    const other = replaced.get(node.id);
    return other === undefined ? linked(node, stored) : [other];
  });
  yield "]}";
}

/** All of a generator as one text. */
export async function collect(steps: AsyncIterable<BodyStep>): Promise<string> {
  const all: Buffer[] = [];
  for await (const step of steps) {
    all.push(...toPieces(step));
  }
  return String(Buffer.concat(all));
}

/** `{…,` of an object, for more keys to follow. */
export function opened(value: Record<string, unknown>): string {
  return `${JSON.stringify(value).slice(0, -1)},`;
}

/** Messages as items of one list. What they say is passed on as it is kept: copies of it would be most of the work. */
async function* joined(
  batches: AsyncIterable<[node: TreeNode, text: MessageText][]>,
  toPieces: (node: TreeNode, text: Buffer) => Buffer[],
): AsyncGenerator<Buffer[]> {
  let isFirst = true;
  for await (const batch of batches) {
    const pieces = batch.flatMap(([node, { text }]) => [comma, ...toPieces(node, text)]);
    if (pieces.length > 0) {
      yield isFirst ? pieces.slice(1) : pieces;
      isFirst = false;
    }
  }
}

const comma = Buffer.from(",");
