import { access } from "#kernel/access/resource.ts";
import { definePlugin, tables } from "#kernel/plugin.ts";
import { sandbox } from "#kernel/sandbox.ts";
import { fill, optional } from "#kernel/service.ts";
import { deployment, egress, events, notices } from "#kernel/services.ts";
import { audit } from "#plugins/audit/service.ts";
import { accounts } from "#plugins/accounts/service.ts";
import { replies } from "#plugins/chats/service.ts";
import { chatAccess, completions } from "#plugins/completions/service.ts";
import { modelAddons, models } from "#plugins/models/service.ts";
import { configParts } from "#plugins/settings/service.ts";
import { createActions } from "./calls/actions.ts";
import { createAddons } from "./calls/addons.ts";
import { createFunctionParts } from "./create-functions.ts";
import { functionVariables } from "./config.ts";
import { createEventFunctions } from "./calls/event-functions.ts";
import { createFilterSource } from "./calls/filters.ts";
import { createFunctions } from "./migrations/0001_functions.ts";
import { approvalsAndSamples } from "./migrations/0002_approvals.ts";
import { createPipeModels } from "./calls/pipe-models.ts";
import { createPipeProvider } from "./calls/pipes.ts";
import { actionRoutes } from "./routes/actions.ts";
import { adminRoutes } from "./routes.ts";
import { listFunctions, updateValves } from "./library/function-store.ts";
import { sealStored } from "./valves/seal-stored.ts";
import { toValvePlace } from "./valves/valve-vault.ts";
import { userEvents } from "./host/user-events.ts";
import { forgetUser } from "./host/storage.ts";
import { functionStorage, type FunctionTables } from "./tables.ts";

export default definePlugin({
  id: "functions",
  title: "Functions",
  summary: "Filters, pipes and actions that people write.",
  config: functionVariables,
  uses: {
    access,
    accounts,
    audit: optional(audit),
    chatAccess,
    replies: optional(replies),
    completions,
    deployment,
    egress,
    events,
    models,
    notices,
    sandbox,
    userEvents,
  },
  tables: tables<FunctionTables>("function", "function_version", "function_storage", "function_sample"),
  migrations: { "0001_functions": createFunctions, "0002_approvals": approvalsAndSamples },
  enabled: (config) => config.enabled,
  pages: [
    {
      id: "functions.list",
      path: "/workspace/functions",
      title: "Functions",
      icon: "code",
      place: "workspace",
      order: 5,
      access: "permission:workspace.functions",
    },
    {
      id: "functions.pipeline",
      path: "/workspace/pipeline",
      title: "Pipeline",
      icon: "activity",
      place: "workspace",
      order: 6,
      access: "permission:workspace.functions",
    },
    {
      id: "functions.new",
      path: "/workspace/new-function",
      title: "New function",
      place: "hidden",
      access: "permission:workspace.functions",
    },
    {
      id: "functions.edit",
      path: "/workspace/function/:id",
      title: "Function",
      place: "hidden",
      access: "permission:workspace.functions",
    },
  ],
  permissions: [{ path: "workspace.functions", default: false }],

  async setup(context) {
    const { config, use, db, log } = context;
    const parts = await createFunctionParts(context);
    const { active, invoke } = parts;
    const isEnabled = () => config.enabled;
    const tell = createEventFunctions({ ...parts, deployment: use.deployment, log, isEnabled });
    const runAction = createActions({
      active,
      invoke,
      models: use.models,
      chatAccess: () => use.chatAccess.list(),
    });
    use.events.onSystemEvent(tell);
    use.events.on("user.deleted", async ({ subject }) => {
      await forgetUser(db, functionStorage.values, subject?.id ?? "");
    });
    return {
      filters: [createFilterSource({ active, invoke, log, waiting: parts.hostParts.complete.waiting })],
      providers: [createPipeProvider({ models: createPipeModels({ active, invoke, log }), invoke })],
      fills: [
        fill(modelAddons, createAddons(active, isEnabled)),
        fill(configParts, (caller) => (caller ? { features: { enable_functions: config.enabled } } : {})),
      ],
      routes: { main: actionRoutes(runAction), api: adminRoutes(context, parts) },
      // Loaded before the first request comes; what does not load is switched off visibly.
      async start() {
        if (config.encryptsValves) {
          await sealStored({
            section: "functions",
            list: () => listFunctions(db),
            save: (id, sealed) => updateValves(db, id, sealed),
            place: toValvePlace,
            vault: parts.vault,
            kept: use.accounts.valves,
          });
        }
        await active.current();
      },
    };
  },
});
