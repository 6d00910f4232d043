import Archive from "@lucide/svelte/icons/archive";
import CopyPlus from "@lucide/svelte/icons/copy-plus";
import Download from "@lucide/svelte/icons/download";
import FolderInput from "@lucide/svelte/icons/folder-input";
import FolderPlus from "@lucide/svelte/icons/folder-plus";
import ListChecks from "@lucide/svelte/icons/list-checks";
import Pencil from "@lucide/svelte/icons/pencil";
import Pin from "@lucide/svelte/icons/pin";
import PinOff from "@lucide/svelte/icons/pin-off";
import Share from "@lucide/svelte/icons/share-2";
import Tag from "@lucide/svelte/icons/tag";
import Trash from "@lucide/svelte/icons/trash";
import { t } from "#plugins/web/kit/i18n/index.svelte.ts";
import type { MenuItem } from "#plugins/web/kit/menu.ts";
import { session } from "#plugins/web/kit/stores/session.svelte.ts";
import { toasts } from "#plugins/web/kit/stores/toasts.svelte.ts";
import { archiveChats, cloneChat, moveChats, pinChat, removeChats } from "../data/list-changes.ts";
import { chatList } from "../data/list.svelte.ts";
import { byOrder, type ListedFolder } from "../data/listed.ts";
import type { ExportFormat } from "../transfer.ts";
import { selection } from "./selection.svelte.ts";
import { sidebar } from "./sidebar-state.svelte.ts";

/** What can be done with the chat of a row. */
export function chatMenu(key: string, id: string): MenuItem[] {
  const isPinned = chatList.isPinned(id);
  return [
    { title: t("Rename"), icon: Pencil, shortcut: "F2", run: () => sidebar.rename(key) },
    {
      title: isPinned ? t("Unpin") : t("Pin"),
      icon: isPinned ? PinOff : Pin,
      run: () => pinChat(id),
    },
    ...moveItems([id]),
    tagsItem(id),
    ...(session.may("chat.share")
      ? [{ title: t("Share"), icon: Share, run: () => (sidebar.sharedId = id) }]
      : []),
    { title: t("Make a copy"), icon: CopyPlus, startsGroup: true, run: () => cloneChat(id) },
    ...exportItems([id]),
    { title: t("Select several"), icon: ListChecks, run: () => selection.begin(id) },
    { title: t("Archive"), icon: Archive, startsGroup: true, run: () => archiveChats([id]) },
    ...(session.may("chat.delete")
      ? [
          {
            title: t("Delete"),
            icon: Trash,
            isDanger: true,
            shortcut: "Delete",
            run: () => removeChats([id]),
          },
        ]
      : []),
  ];
}

/** "Tags": the dialog stands beside the list, which every page has. */
export const tagsItem = (id: string): MenuItem => ({
  title: t("Tags"),
  icon: Tag,
  run: () => (sidebar.taggedId = id),
});

/** "Move to folder", with every folder, a new one and the way out. */
export function moveItems(ids: readonly string[], then: () => void = () => undefined): MenuItem[] {
  if (!chatList.mayUseFolders) {
    return [];
  }
  const places = new Set(ids.map((id) => chatList.folderOf(id)));
  const only = places.size === 1 ? [...places][0] : undefined;
  const run = (folderId: string | null) => {
    void moveChats(ids, folderId);
    then();
  };
  return [
    {
      title: t("Move to folder"),
      icon: FolderInput,
      items: [
        ...inOrder(chatList.folders).map(({ folder, depth }) => ({
          title: "\u2003".repeat(depth) + folder.name,
          isDisabled: folder.id === only,
          run: () => run(folder.id),
        })),
        ...([...places].some((place) => place !== null)
          ? [{ title: t("No folder"), startsGroup: true, run: () => run(null) }]
          : []),
        {
          title: t("New folder"),
          icon: FolderPlus,
          startsGroup: true,
          run: () => {
            sidebar.folder = { chatIds: ids };
            then();
          },
        },
      ],
    },
  ];
}

/** Folders as a tree is read: each before those inside it. */
export function inOrder(
  folders: readonly ListedFolder[],
  parentId: string | null = null,
  depth = 0,
): { folder: ListedFolder; depth: number }[] {
  return folders
    .filter(({ parent_id: parent, id }) => parent === parentId && !chatList.hidden.has(id))
    .toSorted(byOrder)
    .flatMap((folder) => [{ folder, depth }, ...inOrder(folders, folder.id, depth + 1)]);
}

/** "Export", in each format. */
export function exportItems(ids: readonly string[]): MenuItem[] {
  if (!session.may("chat.export")) {
    return [];
  }
  return [
    {
      title: t("Export"),
      icon: Download,
      items: [
        { title: "Markdown", run: () => save(ids, "markdown") },
        { title: t("Plain text"), run: () => save(ids, "text") },
        { title: "JSON", run: () => save(ids, "json") },
      ],
    },
  ];
}

async function save(ids: readonly string[], format: ExportFormat): Promise<void> {
  try {
    const { exportChats } = await import("../transfer.ts");
    await exportChats(ids, format);
  } catch (error) {
    toasts.fail(error, t("The export failed."));
  }
}
