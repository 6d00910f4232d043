import { t } from "#plugins/web/kit/i18n/index.svelte.ts";
import { router } from "#plugins/web/kit/stores/router.svelte.ts";
import { session } from "#plugins/web/kit/stores/session.svelte.ts";
import { type Command, type ComposerTrigger, defineWeb } from "#plugins/web/kit/web.ts";

const trigger = (
  character: string,
  title: () => string,
  load: () => Promise<ComposerTrigger>,
): ComposerTrigger => ({
  character,
  get title() {
    return title();
  },
  list: async (query, signal) => await (await load()).list(query, signal),
});
const triggers = () => import("./composer/triggers.ts");
const contextTriggers = () => import("./composer/context-triggers.ts");
const chatPage = () => import("./page/ChatPage.svelte");

export const web = defineWeb({
  pages: {
    "chats.chat": chatPage,
    "chats.new": chatPage,
    "chats.archived": () => import("./archive/ArchivePage.svelte"),
    "chats.data": () => import("./settings/DataPage.svelte"),
    "chats.links": () => import("./share/SharedLinksPage.svelte"),
    "chats.shared": () => import("./share/SharedPage.svelte"),
  },
  commands: [
    newChats,
    async (query, signal) => (await import("./sidebar/commands.ts")).chatCommands(query, signal),
  ],
  settings: [async () => (await import("./settings/entries.ts")).settingEntries()],
  sidebar: [{ id: "chats", order: 10, load: () => import("./sidebar/ChatsSection.svelte") }],
  triggers: [
    trigger(
      "@",
      () => t("Models"),
      async () => (await triggers()).modelTrigger,
    ),
    trigger(
      "#",
      () => t("Add to the question"),
      async () => (await triggers()).fileTrigger,
    ),
    trigger(
      "#",
      () => t("Collections"),
      async () => (await contextTriggers()).collectionTrigger,
    ),
    trigger(
      "#",
      () => t("Folders"),
      async () => (await contextTriggers()).folderTrigger,
    ),
    trigger(
      "#",
      () => t("Chats"),
      async () => (await contextTriggers()).chatTrigger,
    ),
    trigger(
      "#",
      () => t("Pages"),
      async () => (await contextTriggers()).addressTrigger,
    ),
    trigger(
      "#",
      () => t("Tools"),
      async () => (await triggers()).toolTrigger,
    ),
  ],
});

/** A new chat itself is a command of the frame. */
function newChats(): readonly Command[] {
  const group = t("Chats");
  const temporary: Command = {
    id: "chats.temporary",
    title: t("Temporary chat"),
    group,
    icon: "chat",
    keywords: t("private incognito"),
    run: () => router.navigate("/?temporary=true"),
  };
  return session.may("chat.temporary") ? [temporary] : [];
}
