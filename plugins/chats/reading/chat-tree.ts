import { sql } from "kysely";
import type { ChatDatabase } from "../tables.ts";
import { readRows, rowSize, rowVersion } from "./message-rows.ts";
import type { Readable } from "./read-texts.ts";

/** A message's place in the tree. */
export interface TreeNode extends Readable {
  readonly parent_id: string | null;
  readonly role: string;
  /** The run that writes it. */
  readonly run_id: string | null;
}

/** The tree of a chat without what its messages say. */
export interface Tree<N extends Place = TreeNode> {
  /** Oldest first. */
  readonly nodes: readonly N[];
  readonly byId: ReadonlyMap<string, N>;
  readonly children: ReadonlyMap<string, readonly string[]>;
}

/** Where a message stands, and who writes it. */
export type Place = Pick<TreeNode, "id" | "parent_id" | "role" | "run_id">;
type PlaceRow = Place & { readonly position: number; readonly created_at: number };

/** Reads the tree of a chat. */
export async function readTree(db: ChatDatabase, chatId: string): Promise<Tree> {
  const { rows } = await sql<TreeNode & PlaceRow>`
    select m.id, m.parent_id, m.role, m.run_id, m.position, m.created_at, ${rowVersion} as version,
      ${rowSize} as size
    from chat_message as m where m.chat_id = ${chatId}`.execute(db);
  return toTree(rows);
}

/** A chat with all that its messages say. */
export interface WholeChat extends Tree<Place> {
  /** The members of every message's JSON. */
  readonly texts: ReadonlyMap<string, string>;
}

/** Bytes of a chat that is read in one piece. */
const maxWhole = 4 * 1024 * 1024;

/** Stands between texts: no JSON text has it. */
const separator = "\u001f";

/**
 * Reads a chat in one statement, and as one row: rows cost more than what they hold. Undefined for a chat that is too
 * long for that.
 */
export async function readWholeChat(db: ChatDatabase, chatId: string): Promise<WholeChat | undefined> {
  const { rows } = await sql<{ places: string | null; texts: string | null }>`
    select json_agg(json_build_array(m.id, m.parent_id, m.role, m.run_id, m.position, m.created_at))::text as places,
      string_agg(coalesce(m.wire, ''), ${sql.lit(separator)}) filter (where (
        select sum(${rowSize}) from chat_message as m where m.chat_id = ${chatId}) <= ${sql.lit(maxWhole)}) as texts
    from chat_message as m where m.chat_id = ${chatId}`.execute(db);
  const { places = null, texts = null } = rows[0] ?? {};
  if (places !== null && texts === null) {
    return undefined;
  }
  const list = texts?.split(separator);
  const nodes = (JSON.parse(places ?? "[]") as PlaceList[]).map(
    ([id, parent_id, role, run_id, position, created_at]) => {
      return { id, parent_id, role, run_id, position, created_at };
    },
  );
  const all = new Map(nodes.map(({ id }, at) => [id, list?.[at] ?? ""]));
  const running = nodes.filter(({ run_id }) => run_id !== null).map(({ id }) => id);
  for (const [id, { members }] of running.length === 0 ? [] : await readRows(db, chatId, running)) {
    all.set(id, String(members));
  }
  return { ...toTree(nodes), texts: all };
}

type PlaceList = [
  id: string,
  parentId: string | null,
  role: string,
  runId: string | null,
  position: number,
  createdAt: number,
];

function toTree<N extends PlaceRow>(rows: readonly N[]): Tree<N> {
  const byPlace = (a: N, b: N) => a.position - b.position || (a.id < b.id ? -1 : 1);
  const nodes = rows.toSorted((a, b) => a.created_at - b.created_at || byPlace(a, b));
  const children = new Map<string, string[]>();
  for (const { id, parent_id } of rows.toSorted(byPlace)) {
    const list = parent_id === null ? undefined : children.get(parent_id);
    if (list !== undefined) {
      list.push(id);
    } else if (parent_id !== null) {
      children.set(parent_id, [id]);
    }
  }
  return { nodes, byId: new Map(nodes.map((node) => [node.id, node])), children };
}

/** Ids from the root to a message. */
export function toPath(tree: Pick<Tree<Place>, "byId">, leaf: string | null): string[] {
  const path: string[] = [];
  for (let at = leaf === null ? undefined : tree.byId.get(leaf); at !== undefined;) {
    path.push(at.id);
    at = at.parent_id === null ? undefined : tree.byId.get(at.parent_id);
  }
  return path.toReversed();
}
