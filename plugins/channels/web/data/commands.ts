import { t } from "#plugins/web/kit/i18n/index.svelte.ts";
import { router } from "#plugins/web/kit/stores/router.svelte.ts";
import type { Command } from "#plugins/web/kit/web.ts";
import { channelList, nameOf } from "./channel-list.svelte.ts";

/** The palette leads to every channel of the list. */
export function channelCommands(query: string): readonly Command[] {
  if (!channelList.isOffered || query.trim() === "") {
    return [];
  }
  channelList.start();
  return channelList.items.map((item) => ({
    id: `channels.${item.id}`,
    title: nameOf(item),
    group: t("Channels"),
    icon: item.type === "dm" ? "user" : "hash",
    run: () => router.navigate(`/channels/${item.id}`),
  }));
}
