import type { CompletionRequest } from "#kernel/completion/request.ts";
import type { ToolOutput } from "#kernel/tools/output.ts";
import type { ToolRegistry } from "#kernel/tools/registry.ts";
import type { Tool, ToolProblem } from "#kernel/tools/tool.ts";
import { offerAsked } from "./asked-tools.ts";
import type { LegacyTools } from "./legacy-tools.ts";
import { toToolMode } from "../request/mode.ts";
import { selectNative, toDefinitions, type ToolsRun } from "./native-tools.ts";
import type { Source } from "../request/sources.ts";

export interface ResolvedTools {
  /** The request for the model. */
  readonly request: CompletionRequest;
  /** Those that the run executes itself; empty where the model's calls go back to the caller. */
  readonly tools: readonly Tool[];
  /** What tools that were chosen found; undefined where none are chosen. */
  readonly sources: readonly Source[] | undefined;
  /** What tools that ran already gave besides text. */
  readonly shown?: readonly ToolOutput[];
  /** What was asked for and is not offered. */
  readonly problems?: readonly ToolProblem[];
}

/** The stage of a run that finds tools (contract §3.2, steps 9 and 10). */
export interface ToolsStage {
  /** Undefined when the run has nothing to do with tools of this server. `asked` is what the caller sent. */
  resolve(asked: CompletionRequest, run: ToolsRun): Promise<ResolvedTools> | undefined;
}

/** Builds the stage over the registry of tools. */
export function createToolsStage(registry: ToolRegistry, legacy: LegacyTools): ToolsStage {
  return {
    resolve(asked, run) {
      switch (toToolMode(asked, run.model.params["function_calling"])) {
        case "legacy":
          return runLegacy(legacy, run);
        case "unexecuted":
          return offerAsked(registry, run.context.principal, run.request).then((offered) => ({
            ...offered,
            tools: [],
            sources: undefined,
          }));
        case "native":
          return offerNative(registry, { ...run, asked });
        default:
          return undefined;
      }
    },
  };
}

async function offerNative(
  registry: ToolRegistry,
  run: ToolsRun & { readonly asked: CompletionRequest },
): Promise<ResolvedTools> {
  const problems: ToolProblem[] = [];
  const tools = await selectNative(registry, run, (problem) => problems.push(problem));
  const { request } = run;
  const definitions = toDefinitions(tools);
  const offered = definitions.length === 0 ? request.tools : [...(request.tools ?? []), ...definitions];
  return { request: offered ? { ...request, tools: offered } : request, tools, sources: undefined, problems };
}

async function runLegacy(legacy: LegacyTools, { request, model, context }: ToolsRun): Promise<ResolvedTools> {
  const { principal, chatId, messageId, sessionId, signal } = context;
  const place = { chatId, messageId, sessionId };
  const { sources, shown, problems } = await legacy.gather({ request, model, principal, ...place, signal });
  return { request, tools: [], sources, shown, problems };
}
