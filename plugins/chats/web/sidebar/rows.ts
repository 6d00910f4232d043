import { t } from "#plugins/web/kit/i18n/index.svelte.ts";
import { byOrder, type FolderContents, type ListedChat, type ListedFolder } from "../data/listed.ts";
import type { SharedFolder } from "../data/shared-folders.svelte.ts";
import { monthTitle, type TimeGroup, timeGroup } from "./time-groups.ts";

/** One line of the list. */
export type Row =
  | { readonly key: string; readonly kind: "heading"; readonly title: string; readonly isDropTarget: boolean }
  | { readonly key: string; readonly kind: "chat"; readonly chat: ListedChat; readonly depth: number }
  | { readonly key: string; readonly kind: "folder"; readonly folder: ListedFolder; readonly depth: number }
  | {
      readonly key: string;
      readonly kind: "shared-folder";
      readonly folder: SharedFolder;
      readonly isOpen: boolean;
      readonly depth: number;
    }
  | { readonly key: string; readonly kind: "shared-chat"; readonly chat: ListedChat; readonly depth: number }
  | {
      readonly key: string;
      readonly kind: "more";
      readonly folderId: string;
      readonly isShared: boolean;
      readonly depth: number;
    }
  | { readonly key: string; readonly kind: "note"; readonly text: string; readonly depth: number };

interface Listed {
  readonly recent: readonly ListedChat[];
  readonly pinned: readonly ListedChat[];
  readonly folders: readonly ListedFolder[];
  readonly contents: ReadonlyMap<string, FolderContents>;
  readonly hidden: ReadonlySet<string>;
  readonly shared: SharedList;
}

interface SharedList {
  readonly folders: readonly SharedFolder[];
  readonly contents: ReadonlyMap<string, FolderContents>;
  readonly open: ReadonlySet<string>;
}

/** The list from top to bottom: pinned chats, folders with what is open in them, those of others, chats by time. */
export function toRows(list: Listed, { now, locale }: { now: Date; locale: string }): Row[] {
  const isShown = ({ id }: { id: string }) => !list.hidden.has(id);
  const pinned = list.pinned.filter(isShown).map((chat) => chatRow("pinned", chat, 0));
  const folders = folderRows(list, null, 0);
  const shared = sharedRows(list.shared, null, 0);
  const rows: Row[] = [
    ...(pinned.length > 0 ? [heading("pinned", t("Pinned")), ...pinned] : []),
    ...(folders.length > 0 ? [heading("folders", t("Folders")), ...folders] : []),
    ...(shared.length > 0 ? [heading("shared", t("Shared with me")), ...shared] : []),
  ];
  let last: TimeGroup | undefined;
  for (const chat of list.recent.filter(isShown)) {
    const group = timeGroup(chat.updated_at, now);
    if (group !== last) {
      rows.push(heading(`time:${group}`, titleOf(group, { now, locale })));
      last = group;
    }
    rows.push(chatRow("recent", chat, 0));
  }
  return rows;
}

/** Folders inside a folder in their order, each with its own when it is open. */
function folderRows(list: Listed, parentId: string | null, depth: number): Row[] {
  const known = new Set(list.folders.map(({ id }) => id));
  return list.folders
    .filter(({ id, parent_id: parent }) => {
      const shownIn = parent !== null && known.has(parent) ? parent : null;
      return shownIn === parentId && !list.hidden.has(id);
    })
    .toSorted(byOrder)
    .flatMap((folder): Row[] => [
      { key: `folder:${folder.id}`, kind: "folder", folder, depth },
      ...(folder.is_expanded ? insideOf(list, folder.id, depth + 1) : []),
    ]);
}

function insideOf(list: Listed, id: string, depth: number): Row[] {
  const inner = folderRows(list, id, depth);
  const contents = list.contents.get(id);
  const chats = (contents?.items ?? []).filter((chat) => !list.hidden.has(chat.id));
  const rows: Row[] = [...inner, ...chats.map((chat) => chatRow(id, chat, depth))];
  if (contents?.isAll === false) {
    return [...rows, { key: `more:${id}`, kind: "more", folderId: id, isShared: false, depth }];
  }
  return contents && rows.length === 0
    ? [{ key: `empty:${id}`, kind: "note", text: t("No chats in here yet."), depth }]
    : rows;
}

/** Folders of others by name, as the server sorts them, each with its own when it is open. */
function sharedRows(list: SharedList, parentId: string | null, depth: number): Row[] {
  return list.folders
    .filter((folder) => folder.parent_id === parentId)
    .flatMap((folder): Row[] => {
      const isOpen = list.open.has(folder.id);
      return [
        { key: `shared:${folder.id}`, kind: "shared-folder", folder, isOpen, depth },
        ...(isOpen ? insideOfShared(list, folder.id, depth + 1) : []),
      ];
    });
}

function insideOfShared(list: SharedList, id: string, depth: number): Row[] {
  const contents = list.contents.get(id);
  const rows: Row[] = [
    ...sharedRows(list, id, depth),
    ...(contents?.items ?? []).map((chat): Row => ({
      key: `shared:${id}:${chat.id}`,
      kind: "shared-chat",
      chat,
      depth,
    })),
  ];
  if (contents?.isAll === false) {
    return [...rows, { key: `more:${id}`, kind: "more", folderId: id, isShared: true, depth }];
  }
  return contents && rows.length === 0
    ? [{ key: `empty:${id}`, kind: "note", text: t("No chats in here yet."), depth }]
    : rows;
}

/** What a search found. */
export function toFoundRows(found: readonly ListedChat[], hidden: ReadonlySet<string>): Row[] {
  return found.filter(({ id }) => !hidden.has(id)).map((chat) => chatRow("found", chat, 0));
}

const chatRow = (list: string, chat: ListedChat, depth: number): Row => ({
  key: `${list}:${chat.id}`,
  kind: "chat",
  chat,
  depth,
});

const heading = (key: string, title: string): Row => ({
  key,
  kind: "heading",
  title,
  isDropTarget: key.startsWith("time:") || key === "folders",
});

function titleOf(group: TimeGroup, when: { now: Date; locale: string }): string {
  if (group === "today") {
    return t("Today");
  }
  if (group === "yesterday") {
    return t("Yesterday");
  }
  return group === "week" ? t("Previous 7 days") : monthTitle(group, when);
}
