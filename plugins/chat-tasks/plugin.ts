import { definePlugin } from "#kernel/plugin.ts";
import { fill, provide } from "#kernel/service.ts";
import { accounts } from "#plugins/accounts/service.ts";
import { chats, replies } from "#plugins/chats/service.ts";
import { completions, taskModel, taskSettings } from "#plugins/completions/service.ts";
import { models } from "#plugins/models/service.ts";
import { runFollowUps } from "#plugins/runs/service.ts";
import { createAfterRun } from "./after-run.ts";
import { formNames, taskVariables } from "./config.ts";
import { taskRoutes } from "./routes.ts";
import { imagePromptWriter, queryWriter } from "./service.ts";
import { createTasks } from "./tasks.ts";

export default definePlugin({
  id: "chat-tasks",
  title: "Tasks beside chats",
  summary: "Writes titles, tags and follow-up questions after a reply.",
  config: taskVariables,
  uses: { accounts, chats, completions, models, replies, taskModel },
  provides: [imagePromptWriter, queryWriter],

  setup({ config, use, log }) {
    const tasks = createTasks({
      taskModel: use.taskModel,
      settings: config,
      findProfile: (principal) => use.accounts.templateFacts(principal),
    });
    const afterRun = createAfterRun({ ...use, tasks, settings: config, log });
    return {
      routes: { api: taskRoutes({ ...use, tasks, settings: config }) },
      services: [
        provide(imagePromptWriter, { write: (input) => tasks.imagePrompt(input) }),
        provide(queryWriter, {
          async write(kind, input) {
            const isOn = kind === "retrieval" ? config.retrievalQueries : config.searchQueries;
            return isOn ? await tasks.queries({ ...input, type: kind }) : undefined;
          },
        }),
      ],
      fills: [fill(taskSettings, formNames), ...afterRun.map((work) => fill(runFollowUps, work))],
    };
  },
});
