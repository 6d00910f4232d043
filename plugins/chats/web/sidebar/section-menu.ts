import Archive from "@lucide/svelte/icons/archive";
import Download from "@lucide/svelte/icons/download";
import FolderPlus from "@lucide/svelte/icons/folder-plus";
import Link from "@lucide/svelte/icons/link";
import ListChecks from "@lucide/svelte/icons/list-checks";
import Upload from "@lucide/svelte/icons/upload";
import { t } from "#plugins/web/kit/i18n/index.svelte.ts";
import type { MenuItem } from "#plugins/web/kit/menu.ts";
import { router } from "#plugins/web/kit/stores/router.svelte.ts";
import { session } from "#plugins/web/kit/stores/session.svelte.ts";
import { toasts } from "#plugins/web/kit/stores/toasts.svelte.ts";
import { chatList } from "../data/list.svelte.ts";
import { selection } from "./selection.svelte.ts";
import { sidebar } from "./sidebar-state.svelte.ts";

/** What concerns all chats; `pick` asks for a file to import. */
export function sectionMenu(pick: () => void): MenuItem[] {
  return [
    ...(chatList.mayUseFolders
      ? [{ title: t("New folder"), icon: FolderPlus, run: () => (sidebar.folder = {}) }]
      : []),
    { title: t("Select several"), icon: ListChecks, run: () => selection.begin() },
    {
      title: t("Archived chats"),
      icon: Archive,
      startsGroup: true,
      run: () => router.navigate("/archived"),
    },
    { title: t("Shared links"), icon: Link, run: () => router.navigate("/shared-links") },
    ...(session.may("chat.import")
      ? [{ title: t("Import chats"), icon: Upload, startsGroup: true, run: pick }]
      : []),
    ...(session.may("chat.export")
      ? [{ title: t("Export all chats"), icon: Download, run: () => void exportAll() }]
      : []),
  ];
}

async function exportAll(): Promise<void> {
  try {
    const { exportAllChats } = await import("../transfer.ts");
    await exportAllChats("open");
  } catch (error) {
    toasts.fail(error, t("The export failed."));
  }
}
