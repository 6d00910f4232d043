import { randomUUID } from "node:crypto";
import { AppError } from "#kernel/errors.ts";
import {
  defineTool,
  type Tool,
  type ToolContext,
  type ToolRun,
  type ToolSource,
} from "#kernel/tools/tool.ts";
import { readDueTime, toIso } from "./due-time.ts";
import { show, type TimerParts } from "./parts.ts";
import { type CancelEvent, cancelEvents, type TimerRow } from "./tables.ts";

const longestPrompt = 10_000;

type Parameters = Readonly<Record<string, unknown>>;

/** Offers `timer` (contract §3.6, category `subagents`) to replies that may go on later, and the rest where timers wait. */
export function createTimerTools(parts: TimerParts): ToolSource {
  const { continuation, store } = parts;
  return {
    id: "timers",
    granted: async () => [],
    async select({ run }) {
      if (run === undefined) {
        return continuation.isOn() ? [toTimer(parts, run), ...toOthers(parts)] : [];
      }
      if (run.chatId === undefined || !(await continuation.isOpenTo(run))) {
        return [];
      }
      const waiting = await store.waitingOf({ chat_id: run.chatId });
      return [toTimer(parts, run), ...(waiting.length > 0 ? toOthers(parts) : [])];
    },
  };
}

const about = { category: "subagents" } as const;

function toTimer(parts: TimerParts, run: ToolRun | undefined): Tool {
  return defineTool({
    ...about,
    id: "timers.timer",
    title: "Timer",
    spec: {
      name: "timer",
      description:
        "Sets a timer for yourself. The call returns at once; when the timer fires, your note comes back to you in this chat as a message, and you go on from there without the user. Use it to remind, to look again later, or to wait for something.",
      parameters: {
        type: "object",
        properties: {
          prompt: { type: "string", description: "Note to yourself: what to do when the timer fires" },
          at: {
            type: "string",
            description:
              "An offset from now such as 90s, 10m or 1h30m, or a moment in RFC 3339 with its time zone such as 2031-05-06T07:00:00+02:00",
          },
          cancel_on: {
            type: "array",
            items: { type: "string", enum: [...cancelEvents] },
            description:
              "Cancel the timer when the user has this chat open after your reply or opens it (chat.read), or writes something in it (chat.user_message)",
          },
        },
        required: ["prompt", "at"],
      },
    },
    run: async (parameters, context) => await setTimer(parameters, { context, run }, parts),
  });
}

function toOthers({ store, ...parts }: TimerParts): Tool[] {
  return [
    defineTool({
      ...about,
      id: "timers.list_timers",
      title: "List timers",
      spec: {
        name: "list_timers",
        description: "Lists the timers of this chat that wait.",
        parameters: { type: "object", properties: {} },
      },
      async run(_parameters, context) {
        const zone = await zoneOf(context, parts);
        const waiting = await store.waitingOf({ chat_id: requireChatId(context) });
        return waiting.map((row) => toAnswer(row, zone));
      },
    }),
    defineTool({
      ...about,
      id: "timers.cancel_timer",
      title: "Cancel a timer",
      spec: {
        name: "cancel_timer",
        description: "Cancels a timer of this chat.",
        parameters: {
          type: "object",
          properties: { timer_id: { type: "string", description: "Id of the timer" } },
          required: ["timer_id"],
        },
      },
      async run({ timer_id: id }, context) {
        const choice = {
          id: String(id),
          chatIds: [requireChatId(context)],
          userId: context.principal.userId,
        };
        const cancelled = await store.cancel(choice, "model");
        const [row] = cancelled;
        if (row === undefined) {
          throw new AppError("not_found", "timer_id: no timer of this chat that waits has this id.");
        }
        show(cancelled, parts);
        return toAnswer(row, await zoneOf(context, parts));
      },
    }),
  ];
}

async function setTimer(
  parameters: Parameters,
  { context, run }: { readonly context: ToolContext; readonly run: ToolRun | undefined },
  parts: TimerParts,
): Promise<object> {
  const { chats, continuation, store } = parts;
  const chatId = requireChatId(context);
  if (run === undefined) {
    throw new AppError("invalid", "Timers need a chat that is kept.");
  }
  const { messageId, principal } = context;
  const place = messageId && (await chats.places(chatId, [messageId])).get(messageId);
  const row = await store.add({
    id: randomUUID(),
    user_id: principal.userId,
    chat_id: chatId,
    message_id: messageId ?? null,
    question_id: place ? place.parentId : null,
    call_id: context.call?.id ?? null,
    prompt: readPrompt(parameters["prompt"]),
    cancel_on: readCancelEvents(parameters["cancel_on"]),
    due_at: readDueTime(parameters["at"], Date.now()),
    request: withoutToolServers(continuation.capture(run)),
  });
  show([row], parts);
  return toAnswer(row, await zoneOf(context, parts));
}

/** Contract §9: a tool server is asked while somebody is there to see it. */
function withoutToolServers<T extends Parameters>(request: T): T {
  const ids = request["tool_ids"];
  return Array.isArray(ids)
    ? { ...request, tool_ids: ids.filter((id) => typeof id === "string" && !/^(?:direct_)?server:/.test(id)) }
    : request;
}

const toAnswer = (row: TimerRow, zone: string) => ({
  status: row.state,
  timer_id: row.id,
  at: toIso(row.due_at, zone),
  in_seconds: Math.max(0, row.due_at - Math.ceil(Date.now() / 1_000)),
  cancel_on: row.cancel_on,
  prompt: row.prompt,
});

const zoneOf = async (
  { principal }: ToolContext,
  { accounts }: Pick<TimerParts, "accounts">,
): Promise<string> => (await accounts.templateFacts(principal)).timeZone;

function requireChatId({ chatId }: ToolContext): string {
  if (chatId === undefined) {
    throw new AppError("invalid", "Timers need a chat that is kept.");
  }
  return chatId;
}

function readPrompt(value: unknown): string {
  if (typeof value !== "string" || value.trim() === "") {
    throw new AppError("invalid", "prompt: must be a text that is not empty.");
  }
  if (value.length > longestPrompt) {
    throw new AppError("invalid", `prompt: must have at most ${longestPrompt} characters.`);
  }
  // A database holds no NUL.
  return value.replaceAll("\u0000", "").toWellFormed().trim();
}

function readCancelEvents(value: unknown): CancelEvent[] {
  const given = value === undefined || value === null ? [] : [value].flat();
  const wrong = given.find((one) => !cancelEvents.includes(one as CancelEvent));
  if (wrong !== undefined || given.some((one) => one === undefined)) {
    throw new AppError(
      "invalid",
      `cancel_on: must be a list of ${cancelEvents.join(" and ")}, not ${JSON.stringify(wrong)}.`,
    );
  }
  return [...new Set(given as CancelEvent[])];
}
