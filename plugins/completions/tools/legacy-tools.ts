import type { Principal } from "#kernel/access/principal.ts";
import type { CompletionRequest } from "#kernel/completion/request.ts";
import { AppError } from "#kernel/errors.ts";
import type { Logger } from "#kernel/log.ts";
import { findForeignResult } from "#kernel/tools/acting.ts";
import { type ToolOutput, toolOutput, toResultText, toToolOutput } from "#kernel/tools/output.ts";
import type { ToolRegistry } from "#kernel/tools/registry.ts";
import { createRunTrust } from "#kernel/tools/run-trust.ts";
import type { Tool, ToolContext, ToolProblem } from "#kernel/tools/tool.ts";
import type { ResolvedModel } from "#plugins/models/service.ts";
import { selectAsked } from "./asked-tools.ts";
import type { TaskModel } from "../service.ts";
import { type Source, toText } from "../request/sources.ts";
import { parseToolCalls, type ToolCall } from "./tool-calls.ts";

export interface LegacyToolsOptions {
  readonly tools: ToolRegistry;
  readonly taskModel: TaskModel;
  readonly log: Logger;
  /** TOOLS_FUNCTION_CALLING_PROMPT_TEMPLATE; the built-in one while it is empty. */
  template(): string;
}

export interface LegacyRun {
  readonly request: CompletionRequest;
  /** The model of the chat. */
  readonly model: ResolvedModel;
  readonly principal: Principal;
  readonly chatId: string | undefined;
  readonly messageId: string | undefined;
  readonly sessionId: string | undefined;
  readonly signal: AbortSignal;
}

/** What chosen tools found. */
export interface Gathered {
  readonly sources: Source[];
  /** What they gave besides text, for those who can show it. */
  readonly shown: ToolOutput[];
  /** What the request names and is left out. */
  readonly problems: readonly ToolProblem[];
}

export interface LegacyTools {
  /**
   * What the tools of `tool_ids` give that a task model chooses for the conversation, each run once. Never fails
   * because of the task model or a tool; rejects when the caller is gone.
   */
  gather(run: LegacyRun): Promise<Gathered>;
}

const builtInTemplate = `Available tools: {{TOOLS}}

Choose the tools that are needed to answer the query. Answer with one JSON object and nothing else:
{"tool_calls": [{"name": "<name of a tool>", "parameters": {<its parameters>}}]}

- Use only tools of the list, with the parameters that their schemas ask for.
- Several tools may be called; each entry is run once.
- When no tool fits, answer {"tool_calls": []}.`;

/** Builds tool use for models that cannot call tools. Core API, chat completion rule 2; contract §3.7. */
export function createLegacyTools(options: LegacyToolsOptions): LegacyTools {
  const { log, taskModel } = options;
  return {
    async gather(run) {
      const asked = await selectAsked(options.tools, run.principal, run.request);
      const tools = asked.tools.filter(({ approval }) => approval !== "deny");
      const gathered: Gathered = { sources: [], shown: [], problems: asked.problems };
      const calls = tools.length === 0 ? [] : parseToolCalls(await ask(run, tools), tools);
      // All calls were chosen before the first of them tells anything.
      const foreign = findForeignResult(run.request.messages, tools);
      for (const call of calls) {
        run.signal.throwIfAborted();
        const output = await runCall(call, { ...run, trust: createRunTrust(foreign) }, log);
        gathered.sources.push(toSource(call, output), ...(output.sources as unknown as Source[]));
        if (output.files.length + output.embeds.length > 0) {
          gathered.shown.push(toolOutput({ files: output.files, embeds: output.embeds }));
        }
      }
      return gathered;
    },
  };

  async function ask(run: LegacyRun, tools: readonly Tool[]): Promise<string> {
    const { request, sessionId: _session, ...context } = run;
    const template = options.template() || builtInTemplate;
    const list = JSON.stringify(tools.map(({ spec }) => spec));
    try {
      return await taskModel.ask({
        ...context,
        name: "function_calling",
        filterIds: request.filter_ids ?? undefined,
        messages: [
          { role: "system", content: template.replaceAll("{{TOOLS}}", () => list) },
          { role: "user", content: toQuestion(request) },
        ],
      });
    } catch (error) {
      run.signal.throwIfAborted();
      log.warn({ err: error }, "the task model did not choose tools; the completion goes without them");
      return "";
    }
  }
}

/** The last four messages, and what the user wants to know. */
function toQuestion({ messages }: CompletionRequest): string {
  const history = messages
    .slice(-4)
    .map(({ role, content }) => `${role.toUpperCase()}: """${toText(content)}"""`)
    .join("\n");
  const last = messages.findLast(({ role }) => role === "user");
  return `History:\n${history}\nQuery: ${toText(last?.content)}`;
}

function toSource({ tool, parameters }: ToolCall, output: ToolOutput): Source {
  const name = `${tool.id}/${tool.spec.name}`;
  return {
    source: { id: name, name },
    document: [toResultText(output)],
    metadata: [{ source: name, name, parameters }],
    tool_result: true,
  };
}

/** A failure is told to the model. */
async function runCall(
  { tool, parameters }: ToolCall,
  run: LegacyRun & Pick<ToolContext, "trust">,
  log: Logger,
): Promise<ToolOutput> {
  const { request: _request, model: _model, ...context } = run;
  try {
    return toToolOutput(await tool.run(parameters, context satisfies ToolContext));
  } catch (error) {
    context.signal.throwIfAborted();
    log.warn({ err: error, tool: tool.id }, "a tool failed");
    // What an unexpected failure says may name things of this server.
    return toolOutput({ value: `Error: ${error instanceof AppError ? error.message : "the tool failed."}` });
  }
}
