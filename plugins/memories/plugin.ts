import { access } from "#kernel/access/resource.ts";
import { definePlugin, tables } from "#kernel/plugin.ts";
import { fill, optional } from "#kernel/service.ts";
import { events } from "#kernel/services.ts";
import { chats } from "#plugins/chats/service.ts";
import { contextSources, taskModel } from "#plugins/completions/service.ts";
import { retrieval } from "#plugins/retrieval/service.ts";
import { runFollowUps } from "#plugins/runs/service.ts";
import { memoryVariables } from "./config.ts";
import { createMemories as createMemoryActions } from "./memories.ts";
import { createMemoryContext } from "./memory-context.ts";
import { createMemoryIndex } from "./memory-index.ts";
import { createMemories } from "./migrations/0001_memories.ts";
import { createReview } from "./review.ts";
import { memoryRoutes } from "./routes.ts";
import type { MemoryTables } from "./tables.ts";
import { createMemoryTools } from "./tools.ts";

export default definePlugin({
  id: "memories",
  title: "Memories",
  summary: "What models remember about a person from one chat to the next.",
  config: memoryVariables,
  uses: { access, chats, events, retrieval: optional(retrieval), taskModel },
  tables: tables<MemoryTables>("memory", "memory_change"),
  migrations: { "0001_memories": createMemories },
  permissions: [{ path: "features.memories", default: true }],
  enabled: (config) => config.enabled,
  whenOff: 404,
  pages: [
    {
      id: "memories",
      path: "/settings/memories",
      title: "Memories",
      icon: "brain",
      place: "settings",
      order: 7,
      access: "user",
    },
  ],

  setup({ config, use, db, transaction, log }) {
    const index = createMemoryIndex({ db, retrieval: use.retrieval, log });
    const memories = createMemoryActions({ ...use, db, transaction, index });
    return {
      routes: { api: memoryRoutes(memories) },
      tools: createMemoryTools({ memories, chats: use.chats }),
      fills: [
        fill(contextSources, createMemoryContext(db, config)),
        fill(runFollowUps, createReview({ ...use, memories, settings: config, log })),
      ],
    };
  },
});
