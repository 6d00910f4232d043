import { definePlugin } from "#kernel/plugin.ts";
import { provide } from "#kernel/service.ts";
import { events, pipeline } from "#kernel/services.ts";
import { accounts } from "#plugins/accounts/service.ts";
import { models } from "#plugins/models/service.ts";
import { createCompleted } from "./completed.ts";
import { completionVariables } from "./config.ts";
import { createEmbeddings } from "./embeddings.ts";
import { completionRoutes } from "./routes.ts";
import { createRunner } from "./run.ts";
import { chatAccess, completions, runFinished } from "./service.ts";

export default definePlugin({
  id: "completions",
  title: "Chat completions",
  config: completionVariables,
  uses: { accounts, chats: chatAccess, events, models, pipeline },
  provides: [completions],

  setup({ config, use, log }) {
    const runner = createRunner({
      models: use.models,
      pipeline: use.pipeline,
      log,
      findProfile: (principal) => use.accounts.templateFacts(principal),
      chats: () => use.chats.list(),
      settings: () => config,
      finished: (run) => use.events.emit(runFinished, run),
    });
    const routes = completionRoutes({
      completions: runner,
      completed: createCompleted({ models: use.models, pipeline: use.pipeline }),
      embeddings: createEmbeddings(use.models),
    });
    return { routes, services: [provide(completions, runner)] };
  },
});
