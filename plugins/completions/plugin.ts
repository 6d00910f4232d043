import { definePlugin } from "#kernel/plugin.ts";
import { provide } from "#kernel/service.ts";
import { configuration, declarations, toolRegistry } from "#kernel/services.ts";
import { hub } from "#kernel/sockets/hub.ts";
import { toEnvelope } from "#kernel/sockets/envelope.ts";
import { toRoom } from "#kernel/sockets/rooms.ts";
import { accounts } from "#plugins/accounts/service.ts";
import { models } from "#plugins/models/service.ts";
import { createCompleted } from "./reply/completed.ts";
import { completionVariables, taskNames } from "./config.ts";
import { pickPermissions } from "./request/controls.ts";
import { createEmbeddings } from "./media/embeddings.ts";
import { createConcurrencyLimit } from "#kernel/account-limits.ts";
import { builtInToolsRoute } from "./tools/built-in-route.ts";
import { createLegacyTools } from "./tools/legacy-tools.ts";
import { limitCompletions } from "./limit.ts";
import { pipelineRoute } from "./pipeline/describe.ts";
import { createPipeline } from "./pipeline/pipeline.ts";
import { completionRoutes } from "./routes.ts";
import { createRunner } from "./run.ts";
import {
  chatAccess,
  chatRuns,
  completions,
  contextItems,
  contextSources,
  directModels,
  fileAccess,
  messagePictures,
  promptSources,
  taskModel,
  taskSettings,
  terminalAccess,
  unlistedEmbedders,
} from "./service.ts";
import { createTaskModel } from "./tasks/task-model.ts";
import { taskRoutes } from "./tasks/task-routes.ts";
import { createToolsStage } from "./tools/tools.ts";

export default definePlugin({
  id: "completions",
  title: "Chat completions",
  summary: "Takes a request through filters, tools and the model to its answer.",
  config: completionVariables,
  uses: {
    accounts,
    chatRuns,
    chats: chatAccess,
    configuration,
    contextItems,
    contextSources,
    declarations,
    directModels,
    files: fileAccess,
    hub,
    models,
    pictures: messagePictures,
    prompts: promptSources,
    taskSettings,
    terminals: terminalAccess,
    toolRegistry,
    unlistedEmbedders,
  },
  provides: [completions, taskModel],
  permissions: pickPermissions.map((path) => ({ path, default: true })),

  setup({ config, use, log }) {
    const pipeline = createPipeline(use.declarations.filters(), log);
    const tasks = createTaskModel({
      models: use.models,
      pipeline,
      settings: () => config,
    });
    const legacy = createLegacyTools({
      tools: use.toolRegistry,
      taskModel: tasks,
      log,
      template: () => config.toolsPrompt,
    });
    const limit = createConcurrencyLimit({
      limit: () => config.concurrentCompletions,
      what: "completions",
    });
    const unlimited = createRunner({
      models: use.models,
      toolRegistry: use.toolRegistry,
      pipeline,
      log,
      findProfile: (principal) => use.accounts.templateFacts(principal),
      tools: createToolsStage(use.toolRegistry, legacy),
      chats: () => use.chats.list(),
      pictures: () => use.pictures.list(),
      terminals: () => use.terminals.list(),
      directModels: () => use.directModels.list(),
      files: () => use.files.list(),
      prompts: () => use.prompts.list(),
      contexts: () => use.contextSources.list(),
      contextItems: () => use.contextItems.list(),
      settings: () => config,
    });
    const runner = limitCompletions(unlimited, limit);
    const routes = completionRoutes({
      completions: runner,
      chatRuns: () => use.chatRuns.list(),
      completed: createCompleted({
        models: use.models,
        pipeline,
        chats: () => use.chats.list(),
      }),
      embeddings: createEmbeddings({
        models: use.models,
        unlisted: () => use.unlistedEmbedders.list(),
      }),
      // Core API, chat completion rule 14.
      toOutletListener({ userId }) {
        const room = toRoom("user", userId);
        return {
          isHeard: () => use.hub.isHeard(room),
          tell({ chat_id: chatId, id: messageId, messages }) {
            const event = toEnvelope({ type: "chat:outlet", data: { messages } }, { chatId, messageId });
            use.hub.emit(room, "events", event);
          },
        };
      },
    });
    const taskForms = taskRoutes({
      configuration: use.configuration,
      names: () => [...taskNames, ...use.taskSettings.list().flat()],
    });
    return {
      routes: {
        ...routes,
        api: [
          ...routes.api,
          ...taskForms,
          builtInToolsRoute(use.toolRegistry),
          pipelineRoute({ models: use.models, pipeline }),
        ],
      },
      services: [provide(completions, runner), provide(taskModel, tasks)],
    };
  },
});
