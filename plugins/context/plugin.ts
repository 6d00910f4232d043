import { definePlugin } from "#kernel/plugin.ts";
import { fill, optional } from "#kernel/service.ts";
import { configuration } from "#kernel/services.ts";
import { queryWriter } from "#plugins/chat-tasks/service.ts";
import { chatFolders, chats } from "#plugins/chats/service.ts";
import { contextItems, contextSources } from "#plugins/completions/service.ts";
import { files } from "#plugins/files/service.ts";
import { folders } from "#plugins/folders/service.ts";
import { promptPreviews, retrieval } from "#plugins/retrieval/service.ts";
import { webSearch } from "#plugins/web-search/service.ts";
import { createContextItems } from "./admit-items.ts";
import { contextVariables } from "./config.ts";
import { createFileContext } from "./gather.ts";
import { createPromptPreview } from "./prompt-preview.ts";

export default definePlugin({
  id: "context",
  title: "Files in questions",
  summary: "Gives models the passages of files, collections, folders and chats that a question is about.",
  config: contextVariables,
  uses: {
    chatFolders,
    chats,
    configuration,
    files,
    folders,
    retrieval: optional(retrieval),
    webSearch: optional(webSearch),
    writer: queryWriter,
  },

  setup({ config, use, log }) {
    // Settings of the index, where there is one.
    const isOn = (key: string) => use.configuration.byKey(key)?.value === true;
    const parts = {
      ...use,
      log,
      settings: config,
      givesWhole: () => isOn("rag.full_context") || isOn("rag.bypass_embedding_and_retrieval"),
      loadPage: (url: string, signal: AbortSignal) => use.webSearch?.load(url, signal),
    };
    return {
      fills: [
        fill(contextSources, createFileContext(parts)),
        fill(contextItems, createContextItems(parts)),
        fill(promptPreviews, createPromptPreview(use.configuration)),
      ],
    };
  },
});
