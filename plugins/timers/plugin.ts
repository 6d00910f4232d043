import { randomUUID } from "node:crypto";
import { access } from "#kernel/access/resource.ts";
import { definePlugin, tables } from "#kernel/plugin.ts";
import { events } from "#kernel/services.ts";
import { hub } from "#kernel/sockets/hub.ts";
import { accounts } from "#plugins/accounts/service.ts";
import { chats } from "#plugins/chats/service.ts";
import { chatContinuation } from "#plugins/subagents/service.ts";
import { followChats } from "./cancellation.ts";
import { timerVariables } from "./config.ts";
import { createFiring } from "./firing.ts";
import { createTimers } from "./migrations/0001_timers.ts";
import type { TimerParts } from "./parts.ts";
import { timerRoutes } from "./routes.ts";
import type { TimerRow, TimerTables } from "./tables.ts";
import { createTimerStore } from "./timer-store.ts";
import { createTimerTools } from "./timer-tools.ts";

export default definePlugin({
  id: "timers",
  title: "Timers",
  summary: "Timers with which models let a chat go on later.",
  config: timerVariables,
  uses: { access, accounts, chats, continuation: chatContinuation, events, hub },
  tables: tables<TimerTables>("timer"),
  migrations: { "0001_timers": createTimers },

  setup({ config, db, log, transaction, use }) {
    const store = createTimerStore({ db, transaction, owner: randomUUID() });
    const parts: TimerParts = {
      ...use,
      log,
      store,
      loader: use.access.loader<TimerRow>({
        type: "timer",
        find: store.find,
        ownerOf: (row) => row.user_id,
        adminPasses: false,
      }),
    };
    const firing = createFiring(parts, () => config.pollSeconds);
    followChats(parts);
    return {
      routes: { api: timerRoutes(parts) },
      tools: [createTimerTools(parts)],
      start: () => firing.start(),
      stop: () => firing.stop(),
    };
  },
});
