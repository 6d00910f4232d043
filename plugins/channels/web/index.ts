import { defineWeb } from "#plugins/web/kit/web.ts";

export const web = defineWeb({
  pages: {
    "channels.channel": () => import("./page/ChannelPage.svelte"),
    "channels.first": () => import("./page/FirstChannel.svelte"),
  },
  commands: [async (query) => (await import("./data/commands.ts")).channelCommands(query)],
  sidebar: [{ id: "channels", order: 5, load: () => import("./ChannelsSection.svelte") }],
});
