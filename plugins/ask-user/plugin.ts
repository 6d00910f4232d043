import { definePlugin } from "#kernel/plugin.ts";
import { hub } from "#kernel/sockets/hub.ts";
import { chats, replies } from "#plugins/chats/service.ts";
import { createAnswers } from "./answers.ts";
import { createAskUserTool } from "./ask-user-tool.ts";
import { createOpenQuestions } from "./open-questions.ts";
import { questionRoutes } from "./routes.ts";

export default definePlugin({
  id: "ask-user",
  title: "Questions of models",
  summary: "A tool with which models ask the person, who answers in the chat.",
  uses: { chats, hub, replies },

  setup({ use }) {
    const open = createOpenQuestions();
    const answers = createAnswers({ ...use, open });
    return {
      routes: { api: questionRoutes(answers) },
      tools: [createAskUserTool({ hub: use.hub, open })],
    };
  },
});
