import { t } from "#plugins/web/kit/i18n/index.svelte.ts";
import { server } from "#plugins/web/kit/server.ts";
import { router } from "#plugins/web/kit/stores/router.svelte.ts";
import type { Command } from "#plugins/web/kit/web.ts";
import { archiveChats } from "../data/list-changes.ts";
import { chatList } from "../data/list.svelte.ts";
import { sidebar } from "./sidebar-state.svelte.ts";

const most = 8;

/** Lines of the command palette: chats whose title or messages fit, and what is done with all of them. */
export async function chatCommands(query: string, signal: AbortSignal): Promise<readonly Command[]> {
  const chats = query.trim() === "" ? toCommands(chatList.recent) : await find(query, signal);
  return [...chats, ...actions()];
}

async function find(text: string, signal: AbortSignal): Promise<Command[]> {
  const found = await server.call("GET /api/v1/chats/search", { query: { text }, signal });
  const words = text.toLowerCase().split(/\s+/u).filter(Boolean);
  const isCalled = ({ title }: { title: string }) =>
    words.every((word) => title.toLowerCase().includes(word));
  // Titles are what people know their chats by.
  return toCommands([...found.filter(isCalled), ...found.filter((chat) => !isCalled(chat))], text);
}

/** What was typed goes along as a keyword: a chat may have it in a message alone. */
function toCommands(chats: readonly { id: string; title: string }[], query?: string): Command[] {
  return chats.slice(0, most).map(({ id, title }) => ({
    id: `chats.open.${id}`,
    title: title || t("New chat"),
    group: t("Chats"),
    icon: "chat",
    ...(query !== undefined && { keywords: query }),
    run: () => router.navigate(`/c/${id}`),
  }));
}

function actions(): Command[] {
  const { openId } = chatList;
  const group = t("Chats");
  return [
    ...(chatList.mayUseFolders
      ? [
          {
            id: "chats.folder",
            title: t("New folder"),
            group,
            icon: "folder",
            run: () => void (sidebar.folder = {}),
          },
        ]
      : []),
    ...(openId === undefined
      ? []
      : [
          {
            id: "chats.archive",
            title: t("Archive this chat"),
            group,
            icon: "box",
            run: () => archiveChats([openId]),
          },
        ]),
    {
      id: "chats.archived",
      title: t("Archived chats"),
      group,
      icon: "box",
      run: () => router.navigate("/archived"),
    },
    {
      id: "chats.links",
      title: t("Shared links"),
      group,
      icon: "chat",
      run: () => router.navigate("/shared-links"),
    },
  ];
}
