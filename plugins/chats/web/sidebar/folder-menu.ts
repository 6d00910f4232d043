import FolderInput from "@lucide/svelte/icons/folder-input";
import FolderPlus from "@lucide/svelte/icons/folder-plus";
import Pencil from "@lucide/svelte/icons/pencil";
import Settings from "@lucide/svelte/icons/settings-2";
import Share from "@lucide/svelte/icons/share-2";
import SquarePen from "@lucide/svelte/icons/square-pen";
import Trash from "@lucide/svelte/icons/trash";
import { t } from "#plugins/web/kit/i18n/index.svelte.ts";
import type { MenuItem } from "#plugins/web/kit/menu.ts";
import { router } from "#plugins/web/kit/stores/router.svelte.ts";
import { session } from "#plugins/web/kit/stores/session.svelte.ts";
import ArrowDown from "@lucide/svelte/icons/arrow-down";
import ArrowUp from "@lucide/svelte/icons/arrow-up";
import { moveFolder, removeFolder } from "../data/folder-changes.ts";
import { chatList } from "../data/list.svelte.ts";
import { byOrder, type ListedFolder } from "../data/listed.ts";
import { inOrder } from "./chat-menu.ts";
import { sidebar } from "./sidebar-state.svelte.ts";

/** What can be done with a folder. */
export function folderMenu(key: string, folder: ListedFolder): MenuItem[] {
  const { id } = folder;
  const inside = new Set([id, ...inOrder(chatList.folders, id).map((one) => one.folder.id)]);
  const targets = inOrder(chatList.folders).filter((one) => !inside.has(one.folder.id));
  return [
    {
      title: t("New chat in this folder"),
      icon: SquarePen,
      run: () => router.navigate(`/?folder=${encodeURIComponent(id)}`),
    },
    { title: t("New folder in here"), icon: FolderPlus, run: () => (sidebar.folder = { parentId: id }) },
    { title: t("Rename"), icon: Pencil, startsGroup: true, shortcut: "F2", run: () => sidebar.rename(key) },
    { title: t("Icon and instructions"), icon: Settings, run: () => (sidebar.folder = { id }) },
    ...(session.may("sharing.folders")
      ? [{ title: t("Share"), icon: Share, run: () => (sidebar.sharedFolder = folder) }]
      : []),
    ...(targets.length > 0 || folder.parent_id !== null
      ? [
          {
            title: t("Move to folder"),
            icon: FolderInput,
            items: [
              ...targets.map((one) => ({
                title: "\u2003".repeat(one.depth) + one.folder.name,
                isDisabled: one.folder.id === folder.parent_id,
                run: () => moveFolder(id, { parentId: one.folder.id }),
              })),
              ...(folder.parent_id === null
                ? []
                : [
                    {
                      title: t("No folder"),
                      startsGroup: true,
                      run: () => moveFolder(id, { parentId: null }),
                    },
                  ]),
            ],
          },
        ]
      : []),
    ...orderItems(folder),
    {
      title: t("Delete folder only"),
      icon: Trash,
      startsGroup: true,
      isDanger: true,
      run: () => removeFolder(folder, false),
    },
    ...(session.may("chat.delete")
      ? [
          {
            title: t("Delete folder and chats"),
            icon: Trash,
            isDanger: true,
            run: () => removeFolder(folder, true),
          },
        ]
      : []),
  ];
}

/** One place up or down among the folders beside it: what dragging does, for keys and thumbs. */
function orderItems({ id, parent_id: parentId }: ListedFolder): MenuItem[] {
  const beside = chatList.folders.filter((one) => one.parent_id === parentId).toSorted(byOrder);
  const at = beside.findIndex((one) => one.id === id);
  const before = beside[at - 1];
  return [
    ...(before
      ? [{ title: t("Move up"), icon: ArrowUp, run: () => moveFolder(id, { parentId, before: before.id }) }]
      : []),
    ...(at < beside.length - 1
      ? [
          {
            title: t("Move down"),
            icon: ArrowDown,
            run: () => moveFolder(id, { parentId, before: beside[at + 2]?.id ?? null }),
          },
        ]
      : []),
  ];
}
