import { definePlugin } from "#kernel/plugin.ts";
import { fill, provide } from "#kernel/service.ts";
import { events } from "#kernel/services.ts";
import { hub } from "#kernel/sockets/hub.ts";
import { chatContext, chats, chatSettings, contextMeter, replies } from "#plugins/chats/service.ts";
import { taskModel } from "#plugins/completions/service.ts";
import { models } from "#plugins/models/service.ts";
import { historySteps } from "#plugins/runs/service.ts";
import { createCompaction } from "./compact.ts";
import { compactionVariables } from "./config.ts";
import { createHistoryStep } from "./history-step.ts";
import { createContextMeter, createManualCompaction } from "./manual-compaction.ts";
import { compactionRoutes } from "./routes.ts";
import { compaction } from "./service.ts";

// Switching compaction off keeps what was summarised: chats that were compacted go on with their summaries.
export default definePlugin({
  id: "compaction",
  title: "Context compaction",
  summary: "Sums up the beginning of long chats, so that they fit the model.",
  config: compactionVariables,
  uses: { chats, context: chatContext, events, hub, models, replies, taskModel },
  provides: [compaction],

  setup({ config, use, log }) {
    const service = createCompaction({ ...use, settings: config });
    const parts = { ...use, compaction: service, settings: config };
    return {
      routes: { api: compactionRoutes(createManualCompaction(parts)) },
      services: [provide(compaction, service)],
      fills: [
        fill(historySteps, createHistoryStep({ compaction: service, settings: config, log })),
        fill(
          chatSettings,
          Object.values(compactionVariables).map(({ name }) => name),
        ),
        fill(contextMeter, createContextMeter(parts)),
      ],
    };
  },
});
