import type { Principal } from "#kernel/access/principal.ts";
import type { CompletionRequest } from "#kernel/completion/request.ts";
import { AppError } from "#kernel/errors.ts";
import type { Logger } from "#kernel/log.ts";
import type { ToolRegistry } from "#kernel/tools/registry.ts";
import type { Tool, ToolContext } from "#kernel/tools/tool.ts";
import type { ResolvedModel } from "#plugins/models/service.ts";
import { selectAsked } from "./asked-tools.ts";
import type { TaskModel } from "./service.ts";
import { type Source, toText } from "./sources.ts";
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
  readonly signal: AbortSignal;
}

export interface LegacyTools {
  /**
   * What the tools of `tool_ids` give that a task model chooses for the conversation, each run once. Never fails
   * because of the task model or a tool; rejects when the caller is gone.
   */
  gather(run: LegacyRun): Promise<Source[]>;
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
      const tools = await selectAsked(options.tools, run.principal, run.request);
      if (tools.length === 0) {
        return [];
      }
      const calls = parseToolCalls(await ask(run, tools), tools);
      const sources: Source[] = [];
      for (const call of calls) {
        run.signal.throwIfAborted();
        sources.push(await runCall(call, run, log));
      }
      return sources;
    },
  };

  async function ask(run: LegacyRun, tools: readonly Tool[]): Promise<string> {
    const { request, ...context } = run;
    const template = options.template() || builtInTemplate;
    const list = JSON.stringify(tools.map(({ spec }) => spec));
    try {
      return await taskModel.ask({
        ...context,
        name: "function_calling",
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

async function runCall({ tool, parameters }: ToolCall, run: LegacyRun, log: Logger): Promise<Source> {
  const { principal, chatId, messageId, signal } = run;
  const name = `${tool.id}/${tool.spec.name}`;
  const document = [await toResult(tool, parameters, { principal, chatId, messageId, signal }, log)];
  return {
    source: { id: name, name },
    document,
    metadata: [{ source: name, name, parameters }],
    tool_result: true,
  };
}

/** Text as it is, anything else as JSON; a failure is told to the model. */
async function toResult(
  tool: Tool,
  parameters: Record<string, unknown>,
  context: ToolContext,
  log: Logger,
): Promise<string> {
  try {
    const result = await tool.run(parameters, context);
    return typeof result === "string" ? result : (JSON.stringify(result) ?? "");
  } catch (error) {
    context.signal.throwIfAborted();
    log.warn({ err: error, tool: tool.id }, "a tool failed");
    // What an unexpected failure says may name things of this server.
    return `Error: ${error instanceof AppError ? error.message : "the tool failed."}`;
  }
}
