import { definePlugin } from "#kernel/plugin.ts";
import { hub } from "#kernel/sockets/hub.ts";
import { chats } from "#plugins/chats/service.ts";
import { createTaskTools } from "./task-tools.ts";

export default definePlugin({
  id: "task-list",
  title: "Checklists of models",
  summary: "Tools with which models keep a checklist in the chat.",
  uses: { chats, hub },
  setup: ({ use }) => ({ tools: [...createTaskTools(use)] }),
});
