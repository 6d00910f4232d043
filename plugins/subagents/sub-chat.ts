import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import type { SystemEvent } from "#kernel/events.ts";
import { seconds } from "#storage/clock.ts";
import type { SubagentParts } from "./parts.ts";
import { toSystemPrompt } from "./prompt.ts";
import type { SubagentState } from "./tables.ts";
import type { CapturedRequest } from "./service.ts";

/** A task with the chat that asked for it. */
export interface Task {
  /** Id of the sub-agent and of its chat. */
  readonly id: string;
  readonly principal: Principal;
  readonly chatId: string;
  readonly messageId: string | undefined;
  readonly task: string;
  readonly context: string | undefined;
  readonly mode: "foreground" | "background";
  readonly request: CapturedRequest;
  /** Files of the message that was answered. */
  readonly files: readonly unknown[];
}

/** The end of a sub-agent, with its last words. */
export interface Outcome {
  readonly state: Exclude<SubagentState, "running">;
  readonly output: string;
  readonly error: string | null;
}

const replyOf = (id: string) => `${id}-reply`;
const questionOf = (id: string) => `${id}-question`;
const titleChars = 80;

/** Milliseconds between looks at the reply: an end that was announced elsewhere, or to nobody, is found so. */
const lookMs = 3_000;

/** Makes the chat of a sub-agent, has the task answered in it, and waits for the end. Throws what keeps it from beginning. */
export async function runTask(task: Task, signal: AbortSignal, parts: SubagentParts): Promise<Outcome> {
  const [runs] = parts.runs.list();
  if (runs === undefined) {
    throw new AppError("unavailable", "Sub-agents need the plugin that writes replies.");
  }
  const { id, request, files } = task;
  const { system: parent, ...rest } = request;
  const system = toSystemPrompt(parent, parts.settings().systemPrompt);
  const content = task.context ? `${task.task}\n\nContext:\n${task.context}` : task.task;
  await makeChat(task, { system, content }, parts);
  signal.throwIfAborted();
  // Its session is its own: what asks an open window finds none.
  const principal = Object.freeze({
    ...task.principal,
    session: { id: `subagent:${id}`, expiresAt: task.principal.session?.expiresAt ?? null },
  });
  const end = waitForEnd(task, signal, parts);
  try {
    await runs.start(
      {
        ...rest,
        messages: [
          { role: "system", content: system },
          { role: "user", content },
        ],
        stream: true,
        chat_id: id,
        id: replyOf(id),
        parent_id: questionOf(id),
        session_id: `subagent:${id}`,
        ...(files.length > 0 && { files: files as { type: string }[] }),
      },
      { principal },
    );
    end.begin();
    await end.over;
  } finally {
    end.drop();
  }
  return await readOutcome(id, end.wasStopped(), parts);
}

async function makeChat(
  task: Task,
  { system, content }: { system: string; content: string },
  { chats }: SubagentParts,
): Promise<void> {
  const { id, principal, request } = task;
  const parent = await chats.require(principal, task.chatId);
  const models = [request.model];
  await chats.create(principal, {
    id,
    title:
      task.task.length > titleChars ? `${task.task.slice(0, titleChars - 1).toWellFormed()}…` : task.task,
    models,
    messages: [{ id: questionOf(id), role: "user", parentId: null, content, timestamp: seconds(), models }],
    params: { system },
    folderId: parent.folder_id ?? undefined,
    variables: parent.variables,
    meta: {
      internal: true,
      subagent: { chat_id: task.chatId, message_id: task.messageId ?? null, mode: task.mode },
    },
  });
}

function waitForEnd(
  { id, principal }: Task,
  signal: AbortSignal,
  { events, control, context, log }: SubagentParts,
) {
  const { promise, resolve } = Promise.withResolvers<void>();
  let isStopped = false;
  const observe = ({ subject, data }: SystemEvent) => {
    const end = data as { message_id?: unknown; stopped?: unknown } | null;
    if (subject?.id === id && end?.message_id === replyOf(id)) {
      isStopped = end.stopped === true;
      resolve();
    }
  };
  const stop = () => {
    control
      .stopChat(principal, id)
      .catch((error: unknown) => log.warn({ err: error, chat: id }, "a sub-agent could not be stopped"));
  };
  const drops = [events.on("chat.finished", observe), events.on("chat.failed", observe)];
  let timer: NodeJS.Timeout | undefined;
  const look = async () => {
    if (!(await context.isRunning(id))) {
      resolve();
    }
  };
  return {
    over: promise,
    /** True where a person stopped the reply, in the chat of the sub-agent or in that which waits for it. */
    wasStopped: () => isStopped || signal.aborted,
    /** From now on the reply is there. */
    begin() {
      timer = setInterval(() => void look().catch(() => undefined), lookMs);
      signal.addEventListener("abort", stop, { once: true });
      if (signal.aborted) {
        stop();
      }
    },
    drop() {
      clearInterval(timer);
      signal.removeEventListener("abort", stop);
      drops.forEach((drop) => drop());
    },
  };
}

/** The text in the chat of a sub-agent whose reply has ended. */
export async function readOutcome(
  id: string,
  isStopped: boolean,
  { chats }: Pick<SubagentParts, "chats">,
): Promise<Outcome> {
  const { message } = (await chats.message(id, replyOf(id))) ?? {};
  const output = typeof message?.["content"] === "string" ? message["content"] : "";
  const problem = (message?.["error"] as { content?: unknown } | null | undefined)?.content;
  const error = typeof problem === "string" ? problem : null;
  if (message === undefined) {
    return { state: "failed", output, error: "The chat of the sub-agent was deleted." };
  }
  if (isStopped) {
    return { state: "stopped", output, error };
  }
  if (message["done"] !== true || error === "interrupted") {
    return { state: "interrupted", output, error: "The server stopped during the work." };
  }
  return { state: error === null ? "completed" : "failed", output, error };
}
