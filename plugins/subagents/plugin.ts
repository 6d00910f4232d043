import { randomUUID } from "node:crypto";
import { definePlugin, tables } from "#kernel/plugin.ts";
import { fill, provide } from "#kernel/service.ts";
import { configuration, events } from "#kernel/services.ts";
import { hub } from "#kernel/sockets/hub.ts";
import { accounts } from "#plugins/accounts/service.ts";
import { chatContext, chats } from "#plugins/chats/service.ts";
import { chatRuns } from "#plugins/completions/service.ts";
import { runControl, runLimits } from "#plugins/runs/service.ts";
import { createChatLeases } from "./chat-leases.ts";
import { subagentVariables } from "./config.ts";
import { createContinuation } from "./continuation.ts";
import { createDelegateTool } from "./delegate-tool.ts";
import { createDelegations } from "./delegations.ts";
import { createSubagents } from "./migrations/0001_subagents.ts";
import { createContinuations } from "./migrations/0002_continuations.ts";
import type { SubagentParts } from "./parts.ts";
import { createPlaces, type Places } from "./places.ts";
import { createReports } from "./reports.ts";
import { subagentRoutes } from "./routes.ts";
import { createRows } from "./rows.ts";
import { chatContinuation } from "./service.ts";
import type { SubagentTables } from "./tables.ts";
import { forgetChats } from "./forget-chats.ts";

export default definePlugin({
  id: "subagents",
  title: "Sub-agents",
  summary: "Tasks that models give to other models, at once or in the background.",
  config: subagentVariables,
  uses: {
    accounts,
    chats,
    configuration,
    context: chatContext,
    control: runControl,
    events,
    hub,
    runs: chatRuns,
  },
  provides: [chatContinuation],
  tables: tables<SubagentTables>("subagent", "chat_continuation"),
  migrations: { "0001_subagents": createSubagents, "0002_continuations": createContinuations },
  enabled: (config) => config.enabled,

  setup({ config, db, log, transaction, use }) {
    const parts: SubagentParts = {
      ...use,
      db,
      log,
      transaction,
      owner: randomUUID(),
      settings: () => config,
    };
    const rows = createRows(parts);
    // Document 3: a change of SUBAGENTS_MAX_CONCURRENT counts after a restart.
    let places: Places | undefined;
    const delegations = createDelegations(parts, {
      rows,
      places: () => (places ??= createPlaces(config.maxConcurrent)),
    });
    const continuation = createContinuation({ ...parts, leases: createChatLeases(db) });
    const reports = createReports(parts, { rows, continuation, ids: delegations.ids });
    forgetChats(parts, rows);
    return {
      routes: { api: subagentRoutes(parts, { rows, configuration: use.configuration }) },
      tools: [createDelegateTool({ settings: parts.settings, delegations, continuation })],
      services: [provide(chatContinuation, continuation)],
      fills: [
        fill(runLimits, {
          maxIterations: ({ meta }) => (meta["subagent"] ? config.maxIterations : undefined),
        }),
      ],
      start() {
        places = createPlaces(config.maxConcurrent);
        reports.start();
      },
      async stop() {
        await reports.stop();
        await delegations.settle();
      },
    };
  },
});
