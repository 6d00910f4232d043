import { randomUUID } from "node:crypto";
import { access } from "#kernel/access/resource.ts";
import { definePlugin, tables } from "#kernel/plugin.ts";
import { fill } from "#kernel/service.ts";
import { events } from "#kernel/services.ts";
import { accounts } from "#plugins/accounts/service.ts";
import { chatContext, chatFolders, chats } from "#plugins/chats/service.ts";
import { chatRuns, terminalAccess } from "#plugins/completions/service.ts";
import { models } from "#plugins/models/service.ts";
import { runControl } from "#plugins/runs/service.ts";
import { scheduledRuns } from "#plugins/calendar/service.ts";
import { createAutomationActions } from "./automations.ts";
import { automationVariables } from "./config.ts";
import { createAutomations } from "./migrations/0001_automations.ts";
import { indexLastRuns } from "./migrations/0002_last_run.ts";
import type { AutomationParts } from "./parts.ts";
import { automationRoutes } from "./routes.ts";
import { createClaims } from "./scheduler/claims.ts";
import { createScheduledEntries } from "./scheduled-entries.ts";
import { createScheduler } from "./scheduler/scheduler.ts";
import { type AutomationRow, type AutomationTables, resourceType } from "./tables.ts";
import { createAutomationTools } from "./tools.ts";

export default definePlugin({
  id: "automations",
  title: "Automations",
  summary: "Prompts that run by themselves at times that people choose.",
  config: automationVariables,
  uses: {
    access,
    accounts,
    chats,
    context: chatContext,
    control: runControl,
    events,
    folders: chatFolders,
    models,
    runs: chatRuns,
    terminals: terminalAccess,
  },
  tables: tables<AutomationTables>("automation", "automation_run", "automation_claim"),
  migrations: { "0001_automations": createAutomations, "0002_last_run": indexLastRuns },
  pages: [
    {
      id: "automations",
      path: "/automations",
      title: "Automations",
      icon: "clock",
      place: "main",
      order: 34,
      access: "permission:features.automations",
    },
    {
      id: "automations.new",
      path: "/automations/new",
      title: "New automation",
      place: "hidden",
      access: "permission:features.automations",
    },
    {
      id: "automations.edit",
      path: "/automations/edit/:id",
      title: "Automation",
      place: "hidden",
      access: "permission:features.automations",
    },
  ],
  enabled: (config) => config.enabled,

  setup({ config, db, log, transaction, use }) {
    const parts: AutomationParts = {
      ...use,
      db,
      log,
      transaction,
      loader: use.access.loader<AutomationRow>({
        type: resourceType,
        find: (id) => db.selectFrom("automation").selectAll().where("id", "=", id).executeTakeFirst(),
        ownerOf: (row) => row.user_id,
        adminPasses: false,
      }),
      settings: () => config,
    };
    const claims = createClaims({ db, transaction, owner: randomUUID() });
    const scheduler = createScheduler(claims, parts);
    const automations = createAutomationActions(parts, scheduler.queue);
    use.events.on("user.deleted", async ({ subject }) => {
      if (subject) {
        await db.deleteFrom("automation").where("user_id", "=", subject.id).execute();
      }
    });
    use.events.on("folder.deleted", async ({ subject }) => {
      if (subject) {
        await db
          .updateTable("automation")
          .set({ folder_id: null })
          .where("folder_id", "=", subject.id)
          .execute();
      }
    });
    return {
      routes: { api: automationRoutes(automations) },
      tools: createAutomationTools(automations),
      fills: [fill(scheduledRuns, createScheduledEntries(parts))],
      start: () => scheduler.start(),
      stop: () => scheduler.stop(),
    };
  },
});
