import { core } from "#config/core.ts";
import { access } from "#kernel/access/resource.ts";
import { definePlugin, tables } from "#kernel/plugin.ts";
import { sandbox } from "#kernel/sandbox.ts";
import { fill, optional } from "#kernel/service.ts";
import { deployment, egress, events, grants, notices } from "#kernel/services.ts";
import { accounts, explainedResources } from "#plugins/accounts/service.ts";
import { audit } from "#plugins/audit/service.ts";
import { replies } from "#plugins/chats/service.ts";
import { completions } from "#plugins/completions/service.ts";
import { codeLimits, forgetUser, sealStored, userEvents } from "#plugins/functions/service.ts";
import { toolListings } from "#plugins/tools/service.ts";
import { createToolSource } from "./calls/tool-source.ts";
import { createToolParts } from "./create-tools.ts";
import { explainTools } from "./library/explain.ts";
import { createLibrary } from "./library/library.ts";
import { createListing } from "./library/listing.ts";
import { existingTools, updateToolValves } from "./library/tool-store.ts";
import { createTools } from "./migrations/0001_tools.ts";
import { resourceType, toValvePlace } from "./parts.ts";
import { allRoutes } from "./routes.ts";
import { type ToolTables, toolStorage } from "./tables.ts";

const author = "permission:workspace.tools";

export default definePlugin({
  id: "workspace-tools",
  title: "Workspace tools",
  summary: "Tools for models that people write.",
  config: { enabled: core.plugins, encryptsValves: core.valveEncryption, ...codeLimits },
  uses: {
    access,
    accounts,
    audit: optional(audit),
    completions,
    deployment,
    egress,
    events,
    grants,
    notices,
    replies: optional(replies),
    sandbox,
    userEvents,
  },
  tables: tables<ToolTables>("tool", "tool_version", "tool_storage"),
  migrations: { "0001_tools": createTools },
  resources: [resourceType],
  enabled: (config) => config.enabled,

  pages: [
    {
      id: "workspace-tools.list",
      path: "/workspace/tools",
      title: "Tools",
      icon: "wrench",
      place: "workspace",
      order: 20,
      access: author,
    },
    {
      id: "workspace-tools.new",
      path: "/workspace/new-tool",
      title: "New tool",
      place: "hidden",
      access: author,
    },
    {
      id: "workspace-tools.edit",
      path: "/workspace/tool/:id",
      title: "Tool",
      place: "hidden",
      access: author,
    },
  ],

  async setup(context) {
    const { config, db, use } = context;
    const parts = await createToolParts(context);
    const library = createLibrary(parts);
    use.events.on("user.deleted", async ({ subject }) => {
      await forgetUser(db, toolStorage.values, subject?.id ?? "");
    });
    return {
      tools: [createToolSource(parts)],
      fills: [
        fill(
          toolListings,
          createListing(library, () => config.enabled),
        ),
        fill(explainedResources, explainTools(parts)),
      ],
      resources: { [resourceType]: (ids: readonly string[]) => existingTools(db, ids) },
      routes: { api: allRoutes(context, { parts, library }) },
      async start() {
        if (config.encryptsValves) {
          await sealStored({
            section: "tools",
            list: () => db.selectFrom("tool").select(["id", "valves"]).execute(),
            save: (id, sealed) => updateToolValves(db, id, sealed),
            place: toValvePlace,
            vault: parts.vault,
            kept: use.accounts.valves,
          });
        }
      },
    };
  },
});
