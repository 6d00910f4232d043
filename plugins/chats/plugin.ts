import { access } from "#kernel/access/resource.ts";
import { definePlugin, tables } from "#kernel/plugin.ts";
import { fill, provide } from "#kernel/service.ts";
import { configuration, events, grants } from "#kernel/services.ts";
import { hub } from "#kernel/sockets/hub.ts";
import { accounts, explainedResources } from "#plugins/accounts/service.ts";
import { chatFileLists, fileReferences, files } from "#plugins/files/service.ts";
import { readMarks } from "#plugins/realtime/service.ts";
import { chatVariables } from "./config.ts";
import { createChats } from "./migrations/0001_chats.ts";
import { createReplies } from "./migrations/0002_replies.ts";
import { createEndedRuns } from "./migrations/0003_ended_runs.ts";
import { createQuickTexts } from "./migrations/0004_quick_texts.ts";
import { createTails } from "./migrations/0005_tails.ts";
import { boundWords } from "./migrations/0006_bounded_words.ts";
import { createWireTexts } from "./migrations/0007_wire_texts.ts";
import { qualifyChatFunctions } from "./migrations/0008_qualified_names.ts";
import { sharedType } from "./parts.ts";
import {
  chatContext,
  chatFolders,
  chatSettings,
  chats,
  contextMeter,
  folderChats,
  replies,
} from "./service.ts";
import { createChatsPlugin } from "./create-chats.ts";
import type { ChatTables } from "./tables.ts";

export default definePlugin({
  id: "chats",
  title: "Chats",
  summary: "Chats with their messages, search, tags, sharing and import.",
  config: chatVariables,
  uses: {
    access,
    accounts,
    configuration,
    events,
    files,
    grants,
    hub,
    folders: chatFolders,
    contextMeter,
    settings: chatSettings,
  },
  provides: [chats, replies, chatContext, folderChats],
  tables: tables<ChatTables>("chat", "chat_message", "chat_message_tail", "shared_chat", "chat_file", "tag"),
  migrations: {
    "0001_chats": createChats,
    "0002_replies": createReplies,
    "0003_ended_runs": createEndedRuns,
    "0004_quick_texts": createQuickTexts,
    "0005_tails": createTails,
    "0006_bounded_words": boundWords,
    "0007_wire_texts": createWireTexts,
    "0008_qualified_names": qualifyChatFunctions,
  },
  resources: [sharedType],
  pages: [
    { id: "chats.new", path: "/", title: "New chat", place: "hidden", access: "user" },
    { id: "chats.chat", path: "/c/:id", title: "Chat", place: "hidden", access: "user" },
    { id: "chats.shared", path: "/s/:id", title: "Shared chat", place: "hidden", access: "public" },
    { id: "chats.archived", path: "/archived", title: "Archived chats", place: "hidden", access: "user" },
    {
      id: "chats.data",
      path: "/settings/data",
      title: "Data",
      icon: "database",
      place: "settings",
      order: 4,
      access: "user",
    },
    { id: "chats.links", path: "/shared-links", title: "Shared links", place: "hidden", access: "user" },
  ],

  setup(context) {
    const made = createChatsPlugin(context);
    return {
      routes: { api: made.routes },
      services: [
        provide(chats, made.chats),
        provide(replies, made.replies),
        provide(chatContext, made.context),
        provide(folderChats, made.folderChats),
      ],
      fills: [
        ...made.fileReferences.map((reference) => fill(fileReferences, reference)),
        fill(chatFileLists, made.chatFiles),
        fill(readMarks, made.readMarks),
        fill(explainedResources, made.explained),
      ],
      tools: made.tools,
      resources: { [sharedType]: made.existing },
      start: made.start,
    };
  },
});
