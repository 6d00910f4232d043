import type { ContextSource, Source } from "#plugins/completions/service.ts";
import { Budget, contextBudget } from "./budget.ts";
import { collect } from "./collect.ts";
import { givesKnowledge, modelKnowledge, namedItems, readsFiles } from "./expand.ts";
import { givePassages } from "./give-passages.ts";
import { giveWhole } from "./give-whole.ts";
import type { ContextParts } from "./parts.ts";

/** Gives runs passages of what their request, their folder and their model name (contract §3.2, steps 5 and 11). */
export function createFileContext(parts: ContextParts): ContextSource {
  return {
    id: "files",
    isNeeded(run) {
      if (namedItems(run).length > 0) {
        return readsFiles(run) || run.mode === "legacy";
      }
      return (
        readsFiles(run) &&
        givesKnowledge(run) &&
        (run.folderId !== undefined || modelKnowledge(run).length > 0)
      );
    },
    async gather(run) {
      if (!readsFiles(run)) {
        return {
          sources: [],
          problems: ["This model is not given what files say, so it did not see yours."],
        };
      }
      const problems: string[] = [];
      const onProblem = (problem: string) => problems.push(problem);
      const collected = await collect(run, parts, onProblem);
      const budget = new Budget(contextBudget(run.model, run.request, parts.settings.maxTokens));
      const sources = [
        ...(await givePassages(run, collected, { parts, budget, onProblem })),
        ...(await giveWhole(run, collected, { parts, budget, onProblem })),
      ];
      if (collected.files.length + collected.collections.length + collected.texts.length > 0) {
        run.onStatus(toFound(sources));
      }
      return { sources, problems };
    },
  };
}

function toFound(sources: readonly Source[]): Readonly<Record<string, unknown>> {
  const count = new Set(sources.map(({ source }) => source.id)).size;
  return {
    action: "sources_retrieved",
    description:
      count === 0 ? "Found nothing that fits" : count === 1 ? "Read 1 source" : `Read ${count} sources`,
    count,
    done: true,
    hidden: false,
  };
}
