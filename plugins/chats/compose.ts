import { sql } from "kysely";
import type { ChatRow } from "./chat-store.ts";
import { keepTexts } from "./kept-texts.ts";
import { readRows, toMessageText } from "./message-rows.ts";
import type { ChatDatabase } from "./tables.ts";

/** A message's place in the tree, and about how many bytes it takes. */
export interface TreeNode {
  readonly id: string;
  readonly parent_id: string | null;
  readonly size: number;
}

/** The tree of a chat without what its messages say. */
export interface Tree {
  readonly nodes: readonly TreeNode[];
  readonly byId: ReadonlyMap<string, TreeNode>;
  readonly children: ReadonlyMap<string, readonly string[]>;
}

/** Bytes of messages that are read, composed and written at a time. */
const maxRead = 1024 * 1024;

/** Reads the tree of a chat, oldest first. */
export async function readTree(db: ChatDatabase, chatId: string): Promise<Tree> {
  const { rows } = await sql<TreeNode & { position: number }>`
    select id, parent_id, position, (coalesce(pg_column_size(content), 0) + coalesce(pg_column_size(output), 0)
      + coalesce(pg_column_size(sources), 0) + coalesce(pg_column_size(files), 0) + pg_column_size(extra))::int as size
    from chat_message where chat_id = ${chatId} order by created_at, position, id`.execute(db);
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

/** The stored part of messages as JSON text, by id. */
export async function readMessageTexts(
  db: ChatDatabase,
  chatId: string,
  ids: readonly string[],
): Promise<Map<string, string>> {
  const rows = await readRows(db, chatId, ids);
  return new Map(rows.map((row) => [row.id, toMessageText(row)]));
}

/** Adds a message's links to its stored part. */
export function withLinks(
  text: string,
  { id, parent_id }: Pick<TreeNode, "id" | "parent_id">,
  children: readonly string[],
): string {
  const links = JSON.stringify({ id, parentId: parent_id, childrenIds: children });
  return text === "{}" ? links : `${links.slice(0, -1)}, ${text.slice(1)}`;
}

/** What stands in `chat` besides messages: what was sent, the defaults of what was not, title and files. */
export function toChatHead(row: ChatRow, files: readonly unknown[]) {
  const { history, ...rest } = row.chat as Record<string, unknown> & { history?: Record<string, unknown> };
  return { head: { tags: [], params: {}, ...rest, title: row.title, files }, history: history ?? {} };
}

export interface ChatSource {
  readonly tree: Tree;
  readonly files: readonly unknown[];
  /** Gets the JSON text of every message once, a megabyte between two turns of the event loop. */
  each?(id: string, text: string): void;
}

/**
 * Writes `chat` of a stored chat as JSON text, piece by piece. Messages of the shown branch stand in it twice; they are
 * read once as long as there is room to keep them.
 */
export async function* chatPieces(
  db: ChatDatabase,
  row: ChatRow,
  { tree, files, each }: ChatSource,
): AsyncGenerator<string> {
  const { head, history } = toChatHead(row, files);
  const reader = createReader(db, row.id, tree);
  const ids = tree.nodes.map(({ id }) => id);
  try {
    yield `${JSON.stringify(head).slice(0, -1)},"history":${opened({ ...history, currentId: row.current_message_id })}"messages":{`;
    yield* joined(reader.texts(ids), (id, text) => {
      each?.(id, text);
      return `${JSON.stringify(id)}:${text}`;
    });
    yield `}},"messages":[`;
    yield* joined(reader.texts(toPath(tree, row.current_message_id)), (_id, text) => text);
    yield "]}";
  } finally {
    reader.end();
  }
}

/** All of a generator as one text. */
export async function collect(pieces: AsyncIterable<string>): Promise<string> {
  const all: string[] = [];
  for await (const piece of pieces) {
    all.push(piece);
  }
  return all.join("");
}

/** `{…,` of an object, for more keys to follow. */
export function opened(value: Record<string, unknown>): string {
  return `${JSON.stringify(value).slice(0, -1)},`;
}

/** Reads messages in steps: while one is sent the next one is read. */
function createReader(db: ChatDatabase, chatId: string, tree: Tree) {
  const kept = keepTexts();
  const read = async (ids: readonly string[]) => {
    const known = kept.get(ids);
    if (known !== undefined) {
      return known;
    }
    const texts = await readMessageTexts(db, chatId, ids);
    kept.add(texts);
    return texts;
  };
  return {
    async *texts(ids: readonly string[]): AsyncGenerator<[id: string, text: string][]> {
      const batches = [...toBatches(ids, tree)];
      let next: Promise<ReadonlyMap<string, string>> | undefined;
      for (const [at, batch] of batches.entries()) {
        const texts = await (next ?? read(batch));
        const following = batches[at + 1];
        next = following && read(following);
        // Who stops listening leaves it behind.
        next?.catch(() => {});
        yield compose(batch, texts, tree);
      }
    },
    end: () => kept.end(),
  };
}

function compose(ids: readonly string[], texts: ReadonlyMap<string, string>, tree: Tree): [string, string][] {
  return ids.flatMap((id) => {
    const [text, node] = [texts.get(id), tree.byId.get(id)];
    return text && node ? [[id, withLinks(text, node, tree.children.get(id) ?? [])]] : [];
  });
}

function* toBatches(ids: readonly string[], tree: Tree): Generator<string[]> {
  let batch: string[] = [];
  let size = 0;
  for (const id of ids) {
    const own = tree.byId.get(id)?.size ?? 0;
    if (batch.length > 0 && (size + own > maxRead || batch.length >= 1000)) {
      yield batch;
      batch = [];
      size = 0;
    }
    batch.push(id);
    size += own;
  }
  yield batch;
}

async function* joined(
  batches: AsyncIterable<[string, string][]>,
  toText: (id: string, text: string) => string,
): AsyncGenerator<string> {
  let isFirst = true;
  for await (const batch of batches) {
    const text = batch.map((entry) => toText(...entry)).join(",");
    if (text !== "") {
      yield isFirst ? text : `,${text}`;
      isFirst = false;
    }
  }
}
