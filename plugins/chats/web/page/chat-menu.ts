import Archive from "@lucide/svelte/icons/archive";
import ArchiveRestore from "@lucide/svelte/icons/archive-restore";
import Download from "@lucide/svelte/icons/download";
import Files from "@lucide/svelte/icons/files";
import GitBranch from "@lucide/svelte/icons/git-branch";
import Pencil from "@lucide/svelte/icons/pencil";
import Pin from "@lucide/svelte/icons/pin";
import PinOff from "@lucide/svelte/icons/pin-off";
import Printer from "@lucide/svelte/icons/printer";
import Search from "@lucide/svelte/icons/search";
import Trash from "@lucide/svelte/icons/trash";
import { t } from "#plugins/web/kit/i18n/index.svelte.ts";
import type { MenuItem } from "#plugins/web/kit/menu.ts";
import { server } from "#plugins/web/kit/server.ts";
import { router } from "#plugins/web/kit/stores/router.svelte.ts";
import { session } from "#plugins/web/kit/stores/session.svelte.ts";
import { toasts } from "#plugins/web/kit/stores/toasts.svelte.ts";
import type { ChatStore } from "../data/chat.svelte.ts";
import { chatList } from "../data/list.svelte.ts";
import { forget } from "../data/open-chats.ts";
import { sidePanel } from "../panel/side-panel.svelte.ts";
import { moveItems, tagsItem } from "../sidebar/chat-menu.ts";
import type { ExportFormat } from "../transfer.ts";

interface PageActions {
  rename(): void;
  print(): void;
  find(): void;
}

/** What can be done with the stored chat that the page shows. */
export function chatMenu(chat: ChatStore, { rename, print, find }: PageActions): MenuItem[] {
  const own: MenuItem[] = [
    { title: t("Rename"), icon: Pencil, run: rename },
    {
      title: chat.isPinned ? t("Unpin") : t("Pin"),
      icon: chat.isPinned ? PinOff : Pin,
      run: () => pin(chat),
    },
    ...moveItems([chat.id ?? ""]),
    tagsItem(chat.id ?? ""),
    {
      title: chat.isArchived ? t("Restore from archive") : t("Archive"),
      icon: chat.isArchived ? ArchiveRestore : Archive,
      run: () => archive(chat),
    },
  ];
  const exports: MenuItem[] = [
    { title: t("Export as Markdown"), icon: Download, run: () => save(chat, "markdown") },
    { title: t("Export as JSON"), icon: Download, run: () => save(chat, "json") },
  ];
  const others = [
    { title: t("Files of this chat"), icon: Files, run: () => sidePanel.open({ kind: "files" }) },
    ...(session.may("chat.export") ? exports : []),
    { title: t("Find in this chat"), icon: Search, shortcut: "Mod+F", run: find },
    ...(chat.hasBranches
      ? [{ title: t("Branches"), icon: GitBranch, run: () => sidePanel.open({ kind: "branches" }) }]
      : []),
    { title: t("Print"), icon: Printer, run: print },
  ];
  return [
    ...(chat.canWrite ? own : []),
    ...others.map((item, index) => ({ ...item, startsGroup: chat.canWrite && index === 0 })),
    ...(chat.canWrite && session.may("chat.delete")
      ? [{ title: t("Delete"), icon: Trash, isDanger: true, startsGroup: true, run: () => remove(chat) }]
      : []),
  ];
}

const idOf = (chat: ChatStore) => ({ params: { id: chat.id ?? "" } });

async function pin(chat: ChatStore): Promise<void> {
  try {
    const body = { pinned: !chat.isPinned };
    chat.isPinned =
      (await server.call("POST /api/v1/chats/:id/pin", { ...idOf(chat), body })).pinned === true;
    chatList.refreshSoon();
  } catch (error) {
    toasts.fail(error, t("The chat was not pinned."));
  }
}

export async function archive(chat: ChatStore): Promise<void> {
  try {
    const body = { archived: !chat.isArchived };
    const { archived } = await server.call("POST /api/v1/chats/:id/archive", { ...idOf(chat), body });
    chat.isArchived = archived;
    chatList.refreshSoon();
    toasts.show({
      kind: "good",
      text: archived
        ? t("“{title}” was archived.", { title: chat.title })
        : t("“{title}” was restored.", { title: chat.title }),
      seconds: 10,
      action: { title: t("Undo"), run: () => archive(chat) },
    });
  } catch (error) {
    toasts.fail(error, t("The chat was not archived."));
  }
}

async function save(chat: ChatStore, format: ExportFormat): Promise<void> {
  try {
    const { exportChats } = await import("../transfer.ts");
    await exportChats([chat.id ?? ""], format);
  } catch (error) {
    toasts.fail(error, t("The export failed."));
  }
}

/** Leaves the chat at once; the server deletes it when the time for undoing is over. */
function remove(chat: ChatStore): void {
  const address = router.path;
  const id = chat.id ?? "";
  chatList.hidden.add(id);
  router.navigate("/");
  toasts.undoable({
    text: t("“{title}” was deleted.", { title: chat.title }),
    title: t("Undo"),
    undo: () => {
      chatList.hidden.delete(id);
      router.navigate(address);
    },
    commit: async () => {
      try {
        await server.call("DELETE /api/v1/chats/:id", idOf(chat));
        forget(chat);
        chatList.drop([id]);
      } catch (error) {
        toasts.fail(error, t("The chat was not deleted."));
      } finally {
        chatList.hidden.delete(id);
      }
    },
  });
}
