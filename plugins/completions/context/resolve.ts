import type { CompletionRequest } from "#kernel/completion/request.ts";
import type { ToolOutput } from "#kernel/tools/output.ts";
import type { Tool, ToolProblem } from "#kernel/tools/tool.ts";
import { ignoredFields } from "../request/features.ts";
import { toToolMode } from "../request/mode.ts";
import type { Source } from "../request/sources.ts";
import type { ContextRun, ContextSource, GatheredContext } from "../service.ts";
import type { Run, RunOptions } from "../stages.ts";
import { injectSources, withSystem } from "./inject.ts";

/** What a run is about, besides its request. */
export type ContextPlace = Pick<
  ContextRun,
  "principal" | "chatId" | "folderId" | "isFolderNamed" | "signal"
> & {
  readonly onStatus?: ContextRun["onStatus"] | undefined;
};

/** A run that is ready for its model. */
export interface ResolvedRun {
  readonly request: CompletionRequest;
  /** Those that the run executes itself. */
  readonly tools: readonly Tool[];
  /** What the answer rests on; undefined where the answer has no such key. */
  readonly sources: readonly Source[] | undefined;
  /** What tools that ran already gave besides text. */
  readonly shown: readonly ToolOutput[];
  readonly problems: readonly ToolProblem[];
  /** Fields of the request that nothing here serves (contract D.37). */
  readonly ignored: readonly string[];
}

/**
 * Finds the tools of a run and gathers its context, and puts what both found around the question (contract §3.2, steps
 * 5, 7 and 9 to 12). A run that needs neither is passed on as it is.
 */
export async function resolveRun(
  sent: CompletionRequest,
  run: Run,
  { place, options }: { place: ContextPlace; options: RunOptions },
): Promise<ResolvedRun> {
  const mode = toContextMode(sent, run);
  const about = { ...run, mode, folderId: place.folderId };
  const needed = options.contexts().filter((source) => source.isNeeded(about));
  const [resolved, gathered] = await Promise.all([
    options.tools.resolve(sent, run),
    needed.length > 0 ? gather(needed, { ...about, ...place }) : undefined,
  ]);
  const { request: asked = run.request, tools = [], shown = [], problems = [] } = resolved ?? {};
  const instructions = gathered?.instructions ?? "";
  const request =
    instructions === "" ? asked : { ...asked, messages: withSystem(asked.messages, instructions) };
  // Results of tools come first (steps 10 and 11): numbers count through both.
  const sources = [...(resolved?.sources ?? []), ...(gathered?.sources ?? [])];
  const settings = options.settings();
  return {
    request: sources.length > 0 ? injectSources(request, sources, settings) : request,
    tools,
    shown: [...shown, ...(gathered?.shown ?? [])],
    problems,
    sources: resolved?.sources !== undefined || sources.length > 0 ? sources : undefined,
    ignored: ignoredFields(
      sent,
      { tools, features: gathered?.features ?? [], filters: run.filters },
      settings,
    ),
  };
}

/** Tools over knowledge are offered to native runs with a session alone; others are given passages of it. */
function toContextMode(sent: CompletionRequest, { model }: Pick<Run, "model">): ContextRun["mode"] {
  const capabilities = model.meta["capabilities"] as Readonly<Record<string, unknown>> | undefined;
  const isNative = toToolMode(sent, model.params["function_calling"]) === "native";
  return isNative && sent.session_id && capabilities?.["builtin_tools"] !== false ? "native" : "legacy";
}

async function gather(
  needed: readonly ContextSource[],
  {
    request,
    model,
    mode,
    onStatus = () => {},
    ...place
  }: Pick<ContextRun, "request" | "model" | "mode"> & ContextPlace,
): Promise<Required<GatheredContext>> {
  const run: ContextRun = {
    ...place,
    request,
    model,
    mode,
    terminalId: request.terminal_id ?? undefined,
    onStatus,
  };
  const found = await Promise.all(needed.map((source) => source.gather(run)));
  const problems = found.flatMap((one) => one.problems ?? []);
  problems.forEach((description) =>
    onStatus({ action: "context_unavailable", description, done: true, hidden: false }),
  );
  return {
    sources: found.flatMap(({ sources }) => sources),
    instructions: found.flatMap((one) => one.instructions ?? []).join("\n\n"),
    features: found.flatMap(({ features = [] }) => features),
    problems,
    shown: found.flatMap(({ shown = [] }) => shown),
  };
}
