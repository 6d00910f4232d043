import { randomUUID } from "node:crypto";
import { AppError } from "#kernel/errors.ts";
import {
  defineTool,
  type Tool,
  type ToolContext,
  type ToolRun,
  type ToolSource,
} from "#kernel/tools/tool.ts";
import { toList } from "#config/json-values.ts";
import { captureRequest } from "./capture.ts";
import type { Delegations } from "./delegations.ts";
import type { SubagentParts } from "./parts.ts";
import { cutOutput } from "./prompt.ts";
import type { ChatContinuation } from "./service.ts";
import type { Outcome, Task } from "./sub-chat.ts";

const longest = 50_000;

interface ToolParts {
  readonly settings: SubagentParts["settings"];
  readonly delegations: Delegations;
  readonly continuation: Pick<ChatContinuation, "isOpenTo">;
}

/** Offers `delegate_task` (contract §3.6, category `subagents`; A7) to replies that may give tasks away. */
export function createDelegateTool(parts: ToolParts): ToolSource {
  return {
    id: "subagents",
    granted: async () => [],
    select: async ({ run }) =>
      run === undefined || (await parts.continuation.isOpenTo(run)) ? [toTool(parts, run)] : [],
  };
}

function toTool(parts: ToolParts, run: ToolRun | undefined): Tool {
  const mayWait = parts.settings().backgroundEnabled;
  return defineTool({
    id: "subagents.delegate_task",
    category: "subagents",
    title: "Sub-agent",
    isParallel: true,
    spec: {
      name: "delegate_task",
      description: `Gives one task to a sub-agent: a model with the same tools and an empty memory of its own, which works alone and returns its result. Use it for work that can be told completely in a few sentences. Several calls in one turn work side by side.${mayWait ? " With background, the call returns at once and the result comes later as a message." : ""}`,
      parameters: {
        type: "object",
        properties: {
          task: { type: "string", description: "All that the sub-agent has to do, and what it shall return" },
          context: { type: "string", description: "What it has to know: it sees nothing of this chat" },
          ...(mayWait && {
            background: { type: "boolean", default: false, description: "Do not wait for the result" },
          }),
        },
        required: ["task"],
      },
    },
    run: async (parameters, context) => await delegate(parameters, context, { ...parts, run }),
  });
}

async function delegate(
  parameters: Readonly<Record<string, unknown>>,
  context: ToolContext,
  { run, ...parts }: ToolParts & { readonly run: ToolRun | undefined },
): Promise<unknown> {
  const { settings, delegations } = parts;
  if (run === undefined || context.chatId === undefined) {
    throw new AppError("invalid", "Sub-agents need a chat that is kept.");
  }
  const isBackground = parameters["background"] === true;
  if (isBackground && !settings().backgroundEnabled) {
    throw new AppError(
      "invalid",
      "background: sub-agents in the background are switched off. Call again without.",
    );
  }
  const task: Task = {
    id: randomUUID(),
    principal: context.principal,
    chatId: context.chatId,
    messageId: context.messageId,
    task: readText(parameters["task"], "task"),
    context: parameters["context"] ? readText(parameters["context"], "context") : undefined,
    mode: isBackground ? "background" : "foreground",
    request: captureRequest(run),
    files: toList(run.asked.files),
  };
  if (isBackground) {
    await delegations.dispatch(task, context.call?.id);
    return { status: "dispatched", ...toPlace(task) };
  }
  const outcome = await delegations.wait(task, {
    callId: context.call?.id,
    signal: context.signal,
    onProgress: (progress) => context.call?.showProgress(progress),
  });
  return toResult(task, outcome, settings().maxOutput);
}

const toPlace = ({ id, mode, task }: Task) => ({
  delegation_id: id,
  subagent_chat_id: id,
  mode,
  task,
});

function toResult(task: Task, { state, output, error }: Outcome, max: number): object {
  return {
    status: state,
    ...(error !== null && { error }),
    ...toPlace(task),
    output: cutOutput(output, max),
  };
}

function readText(value: unknown, name: string): string {
  if (typeof value !== "string" || value.trim() === "") {
    throw new AppError("invalid", `${name}: must be a text that is not empty.`);
  }
  if (value.length > longest) {
    throw new AppError("invalid", `${name}: must have at most ${longest} characters.`);
  }
  // A database holds no NUL.
  return value.replaceAll("\u0000", "").toWellFormed().trim();
}
