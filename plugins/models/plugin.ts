import { core } from "#config/core.ts";
import { access } from "#kernel/access/resource.ts";
import { definePlugin, tables } from "#kernel/plugin.ts";
import { provide } from "#kernel/service.ts";
import { configuration, declarations, grants, notices } from "#kernel/services.ts";
import { createCatalogue } from "./catalogue.ts";
import { modelVariables } from "./config.ts";
import { createModels } from "./migrations/0001_models.ts";
import { createModelRecords } from "./records.ts";
import { modelRoutes } from "./routes.ts";
import { type ModelSeed, models } from "./service.ts";
import type { ModelTables } from "./tables.ts";

const channel = "models";

export default definePlugin({
  id: "models",
  title: "Models",
  config: { ...modelVariables, bypassAccess: core.bypassModelAccessControl },
  uses: { access, configuration, declarations, grants, notices },
  provides: [models],
  tables: tables<ModelTables>("model", "model_seed"),
  migrations: { "0001_models": createModels },
  resources: ["model"],

  async setup({ config, use, db, transaction }) {
    const records = createModelRecords({ db, transaction }, use.grants);
    await use.notices.listen(channel, records.forget, records.forget);
    const catalogue = createCatalogue({
      records,
      access: use.access,
      providers: use.declarations.providers,
      settings: () => config,
    });
    const service = {
      resolve: catalogue.resolve,
      list: catalogue.list,
      async seed(seed: ModelSeed) {
        if (await records.seed({ params: {}, ...seed })) {
          records.forget();
          await use.notices.notify(channel, {});
        }
      },
    };
    return { routes: modelRoutes(catalogue, use.configuration), services: [provide(models, service)] };
  },
});
