import type { Api } from "#plugins/catalogue.ts";

/** A chat as lists show it. */
export type ListedChat = Api["GET /api/v1/chats/pinned"]["answer"][number];

/** A folder as one's own list shows it. */
export type ListedFolder = Api["GET /api/v1/folders/"]["answer"][number];

/** The chats of an open folder, as far as they were read. */
export interface FolderContents {
  readonly items: readonly ListedChat[];
  readonly isAll: boolean;
}

export const listPageSize = 60;
export const folderPageSize = 10;

/** Puts the newest page in front of what was read before; what the page should hold and does not is gone. */
export function withNewest(
  before: readonly ListedChat[],
  newest: readonly ListedChat[],
  pageSize: number,
): ListedChat[] {
  const last = newest.at(-1);
  if (!last || newest.length < pageSize) {
    return [...newest];
  }
  const known = new Set(newest.map(({ id }) => id));
  return [...newest, ...before.filter((chat) => !known.has(chat.id) && chat.updated_at <= last.updated_at)];
}

/** Appends a further page; a chat that moved in the order while pages were read comes once. */
export function withMore(before: readonly ListedChat[], page: readonly ListedChat[]): ListedChat[] {
  const known = new Set(before.map(({ id }) => id));
  return [...before, ...page.filter(({ id }) => !known.has(id))];
}

/** Puts a chat where its time has its place. */
export function withChat(chats: readonly ListedChat[], chat: ListedChat): ListedChat[] {
  const others = chats.filter(({ id }) => id !== chat.id);
  const at = others.findIndex(({ updated_at }) => updated_at < chat.updated_at);
  return others.toSpliced(at < 0 ? others.length : at, 0, chat);
}

const orderOf = ({ meta }: ListedFolder) =>
  typeof meta["order"] === "number" ? meta["order"] : Number.POSITIVE_INFINITY;

/** Folders beside each other: in the order that was given to them, those without one after it by name. */
export function byOrder(a: ListedFolder, b: ListedFolder): number {
  // Equal places, two times none among them, leave it to the names.
  const difference = orderOf(a) === orderOf(b) ? 0 : orderOf(a) - orderOf(b);
  return difference || a.name.localeCompare(b.name);
}

/** Where folders of one parent stand when one of them comes before another, or at the end; only what changes. */
export function reordered(
  siblings: readonly ListedFolder[],
  folder: ListedFolder,
  before: string | null,
): ReadonlyMap<string, number> {
  const others = siblings.filter(({ id }) => id !== folder.id).toSorted(byOrder);
  const at = others.findIndex(({ id }) => id === before);
  const line = others.toSpliced(at < 0 ? others.length : at, 0, folder);
  return new Map(
    line.flatMap((one, index): [string, number][] => (orderOf(one) === index ? [] : [[one.id, index]])),
  );
}
