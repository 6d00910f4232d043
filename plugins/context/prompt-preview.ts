import type { ConfigRegistry } from "#config/registry.ts";
import { injectSources } from "#plugins/completions/service.ts";
import type { PromptPreview } from "#plugins/retrieval/service.ts";
import { fromPassages } from "./sources.ts";

/** Shows what a model gets of passages: the same template, sources and place as in a completion (contract §3.2, step 12). */
export function createPromptPreview(configuration: Pick<ConfigRegistry, "valueOf">): PromptPreview {
  return {
    show(question, passages) {
      const template = String(configuration.valueOf("RAG_TEMPLATE") ?? "");
      const inSystem = configuration.valueOf("RAG_SYSTEM_CONTEXT") === true;
      const request = { model: "", messages: [{ role: "user", content: question }] };
      const { messages } = injectSources(request, fromPassages(passages), { template, inSystem });
      return messages.map(({ role, content }) => ({ role, content: String(content ?? "") }));
    },
  };
}
