import { type BodyStep, toPieces } from "#kernel/http/long-body.ts";
import type { ChatRow } from "../chat-store.ts";
import { tagsOf } from "../tags/tag-store.ts";
import type { ChatDatabase } from "../tables.ts";
import {
  type Place,
  readTree,
  readWholeChat,
  toPath,
  type Tree,
  type TreeNode,
  type WholeChat,
} from "./chat-tree.ts";
import { readTexts } from "./read-texts.ts";

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

interface Links {
  readonly children: readonly string[];
  /** Named by the user's messages. */
  readonly author: Author | undefined;
}

/** The beginning of a message's JSON object: its links and its author. Its members follow, and a closing brace. */
export function toLinks(
  { id, parent_id, role }: Pick<TreeNode, "id" | "parent_id" | "role">,
  { children, author }: Links,
): string {
  const named = role === "user" && author !== undefined ? { user_id: author.id, user: author } : {};
  return JSON.stringify({ id, parentId: parent_id, childrenIds: children, ...named }).slice(0, -1);
}

/** What stands in `chat` besides messages: what was sent, the defaults of what was not, title, tags and files. */
function toChatHead(row: ChatRow, files: readonly unknown[]) {
  const { history, ...rest } = row.chat as Record<string, unknown> & { history?: Record<string, unknown> };
  return {
    head: { params: {}, ...rest, title: row.title, tags: tagsOf(row), files },
    history: history ?? {},
  };
}

export interface ChatSource {
  readonly chat: OpenedChat;
  readonly files: readonly unknown[];
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
  row: ChatRow,
  { chat, files, more, each }: ChatSource,
): AsyncGenerator<BodyStep> {
  const { head, history } = toChatHead(row, files);
  const replaced = new Map<string, string>();
  yield `${opened({ ...head, ...more })}"history":${opened({ ...history, currentId: row.current_message_id })}"messages":{`;
  yield* joined(chat.all(), (id, text) => {
    const other = each?.(id, text.join(""));
    if (other !== undefined) {
      replaced.set(id, other);
    }
    return [`${JSON.stringify(id)}:`, ...(other === undefined ? text : [other])];
  });
  yield `}},"messages":[`;
  yield* joined(chat.path(), (id, text) => {
    const other = replaced.get(id);
    return other === undefined ? text : [other];
  });
  yield "]}";
}

/** The text of a message in parts: what was kept as bytes stays bytes. */
type Text = readonly (string | Buffer)[];
type Texts = AsyncIterable<[id: string, text: Text][]>;

/** The messages of a stored chat. */
export interface OpenedChat {
  /** Ids of the shown branch. */
  readonly branch: readonly string[];
  /** The run that writes into it. */
  readonly runId: string | null;
  all(): Texts;
  /** Those of the shown branch. */
  path(): Texts;
}

/** Reads a chat, or for a long one its tree: the texts then follow while it is sent. */
export async function openChat(
  db: ChatDatabase,
  { id, current_message_id: leaf, user_id }: Pick<ChatRow, "id" | "user_id" | "current_message_id">,
  { isNamed = false }: { readonly isNamed?: boolean } = {},
): Promise<OpenedChat> {
  const [whole, author] = await Promise.all([
    readWholeChat(db, id),
    // Snapshots name nobody: visitors read them.
    isNamed ? findAuthor(db, user_id) : undefined,
  ]);
  if (whole !== undefined) {
    return toOpened(whole, leaf, (nodes) => readShort(whole, { nodes, author }));
  }
  const tree = await readTree(db, id);
  return toOpened(tree, leaf, (nodes) => readLong(db, id, { tree, nodes, author }));
}

function toOpened<N extends Place>(
  tree: Tree<N>,
  leaf: string | null,
  read: (nodes: readonly N[]) => Texts,
): OpenedChat {
  const branch = toPath(tree, leaf);
  return {
    branch,
    runId: tree.nodes.findLast(({ run_id: run }) => run !== null)?.run_id ?? null,
    all: () => read(tree.nodes),
    path: () => read(branch.map((id) => tree.byId.get(id) as N)),
  };
}

/** Messages between two turns of the event loop. */
const perStep = 100;

async function* readShort(
  { texts, children }: WholeChat,
  { nodes, author }: { readonly nodes: readonly Place[]; readonly author: Author | undefined },
): Texts {
  for (let at = 0; at < nodes.length; at += perStep) {
    yield nodes.slice(at, at + perStep).map((node): [string, Text] => {
      return [
        node.id,
        [`${toLinks(node, { children: children.get(node.id) ?? [], author })}${texts.get(node.id) ?? ""}}`],
      ];
    });
  }
}

interface LongRead {
  readonly tree: Tree;
  readonly nodes: readonly TreeNode[];
  readonly author: Author | undefined;
}

async function* readLong(db: ChatDatabase, chatId: string, { tree, nodes, author }: LongRead): Texts {
  for await (const batch of readTexts(db, chatId, nodes)) {
    yield batch.map(([node, { members }]): [string, Text] => {
      return [node.id, [toLinks(node, { children: tree.children.get(node.id) ?? [], author }), members, "}"]];
    });
  }
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

/** Messages as items of one list. */
async function* joined(batches: Texts, toItem: (id: string, text: Text) => Text): AsyncGenerator<Buffer[]> {
  let comma = "";
  for await (const batch of batches) {
    const pieces: Buffer[] = [];
    let text = "";
    for (const [id, message] of batch) {
      text += comma;
      comma = ",";
      for (const part of toItem(id, message)) {
        if (typeof part === "string") {
          text += part;
        } else {
          pieces.push(Buffer.from(text), part);
          text = "";
        }
      }
    }
    pieces.push(Buffer.from(text));
    yield pieces;
  }
}
