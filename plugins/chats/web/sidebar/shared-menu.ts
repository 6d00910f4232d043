import ExternalLink from "@lucide/svelte/icons/external-link";
import MessageCircleDashed from "@lucide/svelte/icons/message-circle-dashed";
import Settings from "@lucide/svelte/icons/settings-2";
import { t } from "#plugins/web/kit/i18n/index.svelte.ts";
import type { MenuItem } from "#plugins/web/kit/menu.ts";
import { router } from "#plugins/web/kit/stores/router.svelte.ts";
import { session } from "#plugins/web/kit/stores/session.svelte.ts";
import type { SharedFolder } from "../data/shared-folders.svelte.ts";
import { exportItems } from "./chat-menu.ts";
import { sidebar } from "./sidebar-state.svelte.ts";

/**
 * What may be done with somebody else's folder: every reader runs with its instructions, in chats that are not stored,
 * for those in it are its owner's; those who may change it change its name, icon and instructions.
 */
export function sharedFolderMenu({ id, write_access: canWrite }: SharedFolder): MenuItem[] {
  const temporary = {
    title: t("Temporary chat with its instructions"),
    icon: MessageCircleDashed,
    run: () => router.navigate(`/?temporary=true&folder=${encodeURIComponent(id)}`),
  };
  return [
    ...(session.may("chat.temporary") ? [temporary] : []),
    ...(canWrite
      ? [
          {
            title: t("Name, icon and instructions"),
            icon: Settings,
            run: () => void (sidebar.folder = { id }),
          },
        ]
      : []),
  ];
}

/** What may be done with a chat in somebody else's folder: it is read, and written by its owner alone. */
export function sharedChatMenu(id: string): MenuItem[] {
  return [
    { title: t("Open"), icon: ExternalLink, run: () => router.navigate(`/c/${id}`) },
    ...exportItems([id]),
  ];
}
