import { definePlugin } from "#kernel/plugin.ts";
import { optional, provide } from "#kernel/service.ts";
import { egress } from "#kernel/services.ts";
import { toolApprovers } from "#kernel/tools/approval.ts";
import { queryWriter } from "#plugins/chat-tasks/service.ts";
import { extraction } from "#plugins/extraction/service.ts";
import { retrieval } from "#plugins/retrieval/service.ts";
import { webVariables } from "./config.ts";
import { webSearch, webSearchEngines } from "./service.ts";
import { setUpWebSearch } from "./setup.ts";

export default definePlugin({
  id: "web-search",
  title: "Web search",
  summary: "Searches the web and reads its pages for models and people.",
  config: webVariables,
  uses: {
    approvers: toolApprovers,
    egress,
    engines: webSearchEngines,
    extraction: optional(extraction),
    retrieval: optional(retrieval),
    writer: optional(queryWriter),
  },
  provides: [webSearch],
  pages: [
    {
      id: "web-search",
      path: "/admin/web-search",
      title: "Web search",
      icon: "globe",
      place: "admin",
      group: "models",
      order: 28,
      access: "admin",
    },
  ],

  setup({ config, use, log }) {
    const { service, ...contributions } = setUpWebSearch({ settings: config, ...use, log });
    return { services: [provide(webSearch, service)], ...contributions };
  },
});
