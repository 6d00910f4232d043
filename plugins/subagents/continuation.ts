import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import { toEnvelope } from "#kernel/sockets/envelope.ts";
import { toRoom } from "#kernel/sockets/rooms.ts";
import type { ToolRun } from "#kernel/tools/tool.ts";
import { seconds } from "#storage/clock.ts";
import type { ChatFacts } from "#plugins/chats/service.ts";
import { captureRequest } from "./capture.ts";
import type { ChatLeases } from "./chat-leases.ts";
import type { SubagentParts } from "./parts.ts";
import type { ChatContinuation, Continued, InternalMessage } from "./service.ts";

interface Parts extends Pick<
  SubagentParts,
  "accounts" | "chats" | "context" | "db" | "hub" | "log" | "runs" | "settings"
> {
  readonly leases: ChatLeases;
}

/** Lets chats go on by themselves (contract §9). */
export function createContinuation(parts: Parts): ChatContinuation {
  return {
    isOn: () => parts.settings().enabled,
    isOpenTo: async (run) => parts.settings().enabled && (await isOpenTo(run, parts)),
    capture: captureRequest,
    tell: async (message) =>
      (await parts.leases.during(message.chatId, () => tell(message, parts))) ?? "busy",
  };
}

/** Contract §3.6: not inside a sub-agent, not with a direct connection; a chat that is not kept cannot go on. */
async function isOpenTo({ asked, chatId, isSaved }: ToolRun, { db }: Parts): Promise<boolean> {
  if (!isSaved || chatId === undefined || asked.model_item) {
    return false;
  }
  // The row, not the session: a person who goes on in the chat of a sub-agent is still in it.
  const own = await db.selectFrom("subagent").select("id").where("id", "=", chatId).executeTakeFirst();
  return own === undefined;
}

async function tell(message: InternalMessage, parts: Parts): Promise<Continued> {
  const { accounts, chats, context } = parts;
  const { chatId } = message;
  const principal = await accounts.principalOf(message.userId);
  const chat = principal && (await findChat(principal, chatId, parts));
  if (principal === undefined || chat === undefined) {
    return "gone";
  }
  const questionId = `told-${message.id}`;
  const replyId = `${questionId}-reply`;
  const there = await chats.places(chatId, [questionId, replyId]);
  if (there.has(replyId)) {
    // The process that began it died before it could say so.
    return "told";
  }
  if (await context.isRunning(chatId)) {
    return "busy";
  }
  if (!(await message.isMine())) {
    return "lost";
  }
  const place = there.get(questionId);
  const parentId = place ? place.parentId : chat.current_message_id;
  try {
    await start(message, { principal, parentId, questionId, replyId }, parts);
  } catch (error) {
    if (!(error instanceof AppError) || error.code === "conflict") {
      throw error;
    }
    // The model or a tool is gone: what came is shown all the same.
    parts.log.warn({ err: error, chat: chatId }, "a chat could not go on by itself");
    if (place === undefined) {
      await chats.append(chatId, [{ ...toQuestion(message, questionId, parentId) }]);
    }
  }
  reload(principal, chat, parts);
  return "told";
}

async function findChat(
  principal: Principal,
  chatId: string,
  { chats }: Parts,
): Promise<ChatFacts | undefined> {
  return await chats.require(principal, chatId).catch((error: unknown) => {
    if (error instanceof AppError && error.code === "not_found") {
      return undefined;
    }
    throw error;
  });
}

const toQuestion = ({ content, meta, request }: InternalMessage, id: string, parentId: string | null) => ({
  id,
  role: "user" as const,
  parentId,
  content,
  timestamp: seconds(),
  models: [request.model],
  meta: { internal: true, ...meta },
});

interface Place {
  readonly principal: Principal;
  readonly parentId: string | null;
  readonly questionId: string;
  readonly replyId: string;
}

async function start(
  message: InternalMessage,
  { principal, parentId, questionId, replyId }: Place,
  { runs }: Parts,
): Promise<void> {
  const [writer] = runs.list();
  if (writer === undefined) {
    throw new AppError("unavailable", "Nothing here writes replies.");
  }
  const { system, ...rest } = message.request;
  await writer.start(
    {
      ...rest,
      messages: [
        ...(system ? [{ role: "system", content: system }] : []),
        { role: "user", content: message.content },
      ],
      stream: true,
      chat_id: message.chatId,
      id: replyId,
      parent_id: parentId,
      user_message: toQuestion(message, questionId, parentId),
      session_id: `internal:${message.id}`,
    },
    { principal },
  );
}

/** Open windows read the chat anew; others mark it as unread. */
function reload(principal: Principal, chat: ChatFacts, { hub }: Parts): void {
  const room = toRoom("user", principal.userId);
  const place = { chatId: chat.id };
  hub.emit(room, "events", toEnvelope({ type: "chat:reload" }, place));
  const data = { chat_id: chat.id, folder_id: chat.folder_id };
  hub.emit(room, "events", toEnvelope({ type: "chat:list", data }, place));
}
