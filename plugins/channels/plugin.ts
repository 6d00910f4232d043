import { access } from "#kernel/access/resource.ts";
import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import { definePlugin, tables } from "#kernel/plugin.ts";
import { type Filled, fill, provide } from "#kernel/service.ts";
import { events, grants, notices } from "#kernel/services.ts";
import { hub } from "#kernel/sockets/hub.ts";
import { toRoom } from "#kernel/sockets/rooms.ts";
import { GRANTS_CHANNEL } from "#storage/grants.ts";
import { accounts } from "#plugins/accounts/service.ts";
import { chatAccess, completions } from "#plugins/completions/service.ts";
import { fileReferences, files } from "#plugins/files/service.ts";
import { channelEvents, readMarks, userRooms } from "#plugins/realtime/service.ts";
import { replyWriter } from "#plugins/runs/service.ts";
import { createChannelBots } from "./bots.ts";
import { createChannelActions } from "./channels.ts";
import { channelVariables } from "./config.ts";
import { toFileReference } from "./file-reference.ts";
import { createChannelLoader } from "./loader.ts";
import { createMemberActions, createReadMarks } from "./members.ts";
import { createMessageActions, createPosting, createReactions } from "./messages/messages.ts";
import { createReadingActions } from "./messages/reading.ts";
import { createChannels } from "./migrations/0001_channels.ts";
import { type ChannelParts, createIsOpen, resourceType } from "./parts.ts";
import { createModelReplies } from "./models/replies.ts";
import { createRetry } from "./models/retry.ts";
import { channelRoutes } from "./routes/channels.ts";
import { messageRoutes, replyRoutes, readingRoutes } from "./routes/messages.ts";
import { webhookRoutes } from "./routes/webhooks.ts";
import { createReaders } from "./readers.ts";
import { existingChannels, visibleIds } from "./rows/channels.ts";
import { channelBots, channelReaders } from "./service.ts";
import type { ChannelTables } from "./tables.ts";
import { createChannelTools } from "./tools.ts";
import { createWebhookActions, createWebhookPosting } from "./webhooks.ts";

export default definePlugin({
  id: "channels",
  title: "Channels",
  summary: "Rooms in which people talk with each other and with models.",
  config: channelVariables,
  uses: { access, accounts, completions, events, files, grants, hub, notices, writer: replyWriter },
  provides: [channelReaders, channelBots],
  tables: tables<ChannelTables>(
    "channel",
    "channel_member",
    "channel_file",
    "channel_webhook",
    "message",
    "message_reaction",
  ),
  migrations: { "0001_channels": createChannels },
  permissions: [
    { path: "features.channels", default: true },
    { path: "sharing.public_channels", default: false },
  ],
  resources: [resourceType],
  pages: [
    {
      id: "channels.first",
      path: "/channels",
      title: "Channels",
      place: "hidden",
      access: "permission:features.channels",
    },
    {
      id: "channels.channel",
      path: "/channels/:id",
      title: "Channel",
      icon: "hash",
      place: "hidden",
      access: "permission:features.channels",
    },
  ],
  enabled: (config) => config.enabled,

  setup({ config, use, db, transaction, log }) {
    const isOpen = createIsOpen(() => config.enabled);
    const parts: ChannelParts = {
      ...use,
      db,
      transaction,
      log,
      isOpen,
      channels: createChannelLoader(use.access, db),
    };
    const members = createMemberActions(parts);
    const replies = createModelReplies({
      ...parts,
      completions: use.completions,
      writer: use.writer,
      responseMode: () => config.responseMode as "thread" | "channel",
    });
    const messages = createMessageActions(parts);
    use.events.on("user.deleted", ({ subject }) => replies.stopUser(subject?.id ?? ""));

    return {
      services: [
        provide(channelReaders, createReaders(parts)),
        provide(channelBots, createChannelBots(parts)),
      ],
      routes: {
        api: [
          ...channelRoutes(createChannelActions(parts), members),
          ...readingRoutes(createReadingActions(parts)),
          ...messageRoutes({
            posting: createPosting(parts, replies.posted),
            messages,
            reactions: createReactions(parts),
          }),
          ...replyRoutes({
            stop: replies.stop,
            retry: createRetry({ ...parts, remove: messages.remove, ask: replies.ask }),
          }),
          ...webhookRoutes(
            createWebhookActions(parts),
            createWebhookPosting(parts, () => config.enabled),
          ),
        ],
      },
      tools: createChannelTools(parts),
      jobs: [
        {
          id: "channels.replies",
          title: "Ends channel replies that were interrupted",
          every: 15,
          run: () => replies.endExpired(),
        },
      ],
      drain: (graceMs) => replies.drain(graceMs),
      fills: toFills(parts),
      resources: { [resourceType]: (ids: readonly string[]) => existingChannels(db, ids) },
      async start() {
        await use.notices.listen(
          GRANTS_CHANNEL,
          (change) => {
            const type = (change as { type?: string } | null)?.type;
            if (type === undefined || type === resourceType) {
              void use.hub.renewRooms();
            }
          },
          () => void use.hub.renewRooms(),
        );
      },
    };
  },
});

/** What other plugins ask channels. */
function toFills(parts: ChannelParts): readonly Filled[] {
  const { access: allowed, channels, db, isOpen } = parts;
  const marks = createReadMarks(parts);
  const require = async (principal: Principal, id: string) => {
    if (!isOpen(principal)) {
      throw new AppError("not_found", "Not found");
    }
    await channels.load(principal, id, "read");
  };
  return [
    fill(chatAccess, {
      async open(principal, chatId) {
        const id = chatId.startsWith("channel:") ? chatId.slice("channel:".length) : undefined;
        const channel =
          id !== undefined && isOpen(principal) ? await channels.find(principal, id, "write") : undefined;
        return channel && { id: chatId, folderId: undefined, variables: {} };
      },
    }),
    fill(fileReferences, toFileReference(parts)),
    fill(channelEvents, { require }),
    fill(readMarks, {
      kind: "channel",
      async mark(principal, id) {
        await require(principal, id);
        await marks.mark(principal, id);
      },
    }),
    fill(userRooms, async (principal) =>
      isOpen(principal)
        ? (await visibleIds(db, principal, allowed.passes(principal))).map((id) => toRoom("channel", id))
        : [],
    ),
  ];
}
