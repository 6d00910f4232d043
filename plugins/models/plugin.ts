import { core } from "#config/core.ts";
import type { Principal } from "#kernel/access/principal.ts";
import { access } from "#kernel/access/resource.ts";
import { definePlugin, tables } from "#kernel/plugin.ts";
import { fill, optional, provide } from "#kernel/service.ts";
import { configuration, declarations, events, grants, notices } from "#kernel/services.ts";
import { accessPreviews, accounts, explainedResources, firstSettings } from "#plugins/accounts/service.ts";
import { audit } from "#plugins/audit/service.ts";
import { fileReferences, files } from "#plugins/files/service.ts";
import { arenaVariables } from "./catalogue/arena.ts";
import { modelVariables } from "./config.ts";
import { migration } from "./migrations/0001_models.ts";
import { modelAddons, modelReferences, type Models, models } from "./service.ts";
import { createModels } from "./create-models.ts";
import type { ModelTables } from "./tables.ts";

export default definePlugin({
  id: "models",
  title: "Models",
  summary: "The list of models, their records and their pictures.",
  config: { ...modelVariables, ...arenaVariables, bypassAccess: core.bypassModelAccessControl },
  uses: {
    access,
    accounts,
    audit: optional(audit),
    configuration,
    declarations,
    events,
    files,
    grants,
    notices,
    addons: modelAddons,
    references: modelReferences,
  },
  provides: [models],
  tables: tables<ModelTables>("model", "model_seed"),
  migrations: { "0001_models": migration },
  resources: ["model"],
  pages: [
    {
      id: "models.list",
      path: "/workspace/models",
      title: "Models",
      icon: "bot",
      place: "workspace",
      order: 10,
      access: "permission:workspace.models",
    },
    {
      id: "models.new",
      path: "/workspace/models/new",
      title: "New model",
      place: "hidden",
      access: "permission:workspace.models",
    },
    {
      id: "models.edit",
      path: "/workspace/models/:id",
      title: "Model",
      place: "hidden",
      access: "permission:workspace.models",
    },
  ],

  async setup(context) {
    const { service, explained, fileReference, existing, ...rest } = await createModels(context);
    return {
      ...rest,
      services: [provide(models, service)],
      fills: [
        fill(fileReferences, fileReference),
        fill(explainedResources, explained),
        fill(firstSettings, { fields: () => toPinned(context.config.pinnedModels) }),
        fill(accessPreviews, { kind: "models", list: (principal) => listNames(service, principal) }),
      ],
      resources: { model: existing },
    };
  },
});

async function listNames(
  service: Models,
  principal: Principal,
): Promise<{ readonly id: string; readonly name: string }[]> {
  const items = await service.list(principal);
  return items.map((item) => ({ id: String(item["id"]), name: String(item["name"]) }));
}

/** DEFAULT_PINNED_MODELS as people's interface settings hold it. */
function toPinned(list: string): Record<string, unknown> {
  const ids = list
    .split(",")
    .map((id) => id.trim())
    .filter((id) => id !== "");
  return ids.length === 0 ? {} : { pinnedModels: ids };
}
