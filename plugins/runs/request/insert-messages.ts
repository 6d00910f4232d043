import { AppError } from "#kernel/errors.ts";
import type { Principal } from "#kernel/access/principal.ts";
import { seconds } from "#storage/clock.ts";
import type { AppendedMessage, ChatFacts, Chats, MessagePlace } from "#plugins/chats/service.ts";
import type { ResolvedModel } from "#plugins/models/service.ts";
import type { RunRequest, RequestedReply, UserMessage } from "./parse-run-request.ts";

/** A reply with the model that writes it. */
export interface ReplyPlan {
  readonly reply: RequestedReply;
  readonly model: ResolvedModel;
}

/** Where the replies stand in the tree of their chat. */
export interface InsertedReplies {
  readonly chatId: string;
  /** Undefined for a temporary chat: nothing of it is stored. */
  readonly chat: ChatFacts | undefined;
  readonly userMessageId: string | undefined;
  readonly userMessageParentId: string | undefined;
  /** Ids of the messages that were not there before. */
  readonly made: ReadonlySet<string>;
}

interface Place {
  readonly principal: Principal;
  readonly chats: Chats;
  /** The chat that is written into; where the server makes it, its id. */
  readonly chatId: string;
}

/**
 * Finds or makes the chat, the user's message and the placeholders of the replies: whoever reads the chat from now on
 * sees that replies are coming. Core API, chat completion rule 11; contract D.16 and §3.1. Throws `not_found` for
 * foreign chats and messages, before anything is written.
 */
export async function insertMessages(
  asked: RunRequest,
  plans: readonly ReplyPlan[],
  place: Place,
): Promise<InsertedReplies> {
  const { principal, chats } = place;
  const { userMessage } = asked;
  const user = { userMessageId: userMessage?.id, userMessageParentId: userMessage?.parentId ?? undefined };
  if (asked.chatId?.startsWith("temporary:")) {
    return { chatId: asked.chatId, chat: undefined, ...user, made: new Set() };
  }
  const named = [userMessage?.id, userMessage?.parentId, asked.parentId].filter(
    (id) => typeof id === "string",
  );
  const ids = [...named, ...plans.map(({ reply }) => reply.messageId)];
  if (asked.chatId === undefined) {
    // A message of another chat is unknown in this one as well.
    await chats.places(place.chatId, ids);
    const chat = await makeChat(asked, plans, place);
    return { chatId: chat.id, chat, ...user, made: new Set(plans.map(({ reply }) => reply.messageId)) };
  }
  const chat = await chats.require(principal, asked.chatId);
  const put = { asked, plans, place, chat, ids };
  const { places, missing } = await putMissing(put).catch((error: unknown) => {
    if (error instanceof AppError && error.code === "conflict") {
      // Another completion has brought the same question at the same moment.
      return putMissing({ ...put, isAgain: true });
    }
    throw error;
  });
  const parentId = userMessage && (places.get(userMessage.id)?.parentId ?? user.userMessageParentId);
  const made = new Set(missing.map(({ id }) => id).filter((id) => !places.has(id)));
  return { chatId: chat.id, chat, ...user, userMessageParentId: parentId ?? undefined, made };
}

interface Put {
  readonly asked: RunRequest;
  readonly plans: readonly ReplyPlan[];
  readonly place: Place;
  readonly chat: ChatFacts;
  /** Ids of all messages that the request names. */
  readonly ids: readonly string[];
  readonly isAgain?: boolean;
}

/** Puts what is not there yet into the chat; resolves to that, and to what was there before. */
async function putMissing({ asked, plans, place, chat, ids, isAgain = false }: Put) {
  const { principal, chats } = place;
  const { userMessage } = asked;
  const places = await chats.places(chat.id, ids);
  requirePlaces(asked, plans, places);
  const { messages: missing, moves } = toMissing(asked, plans, places);
  const kept = toKept(asked, plans, {
    chat,
    isNew: userMessage !== undefined && !places.has(userMessage.id),
  });
  const isLong = moves || missing.some(showsFiles) || kept.models || (missing.length > 0 && plans.length > 1);
  if (isLong || isAgain) {
    const shown = plans[0]?.reply.messageId ?? "";
    await chats.link(principal, chat.id, { messages: missing, shown, ...kept });
  } else {
    await chats.append(chat.id, missing);
  }
  return { places, missing };
}

/** Files of a message are files of its chat, which only the longer way sees to: attachments, and pictures in its text. */
function showsFiles({ files, content }: AppendedMessage): boolean {
  const isPicture = (part: unknown) => (part as { image_url?: unknown } | null)?.image_url !== undefined;
  return (Array.isArray(files) && files.length > 0) || (Array.isArray(content) && content.some(isPicture));
}

/** A request that names a parent leaves the chat to the server: models and files follow the question (contract §3.1). */
function toKept(
  asked: RunRequest,
  plans: readonly ReplyPlan[],
  { chat, isNew }: { chat: ChatFacts; isNew: boolean },
): { models?: string[]; addedFiles?: unknown[] } {
  if (asked.parentId === undefined) {
    return {};
  }
  const models = toModels(plans);
  return {
    ...(JSON.stringify(models) !== JSON.stringify(chat.chat["models"]) && { models }),
    addedFiles: isNew ? toFiles(asked) : [],
  };
}

function toModels(plans: readonly ReplyPlan[]): string[] {
  return [...new Set(plans.map(({ model }) => model.id))];
}

/** Files of a question for the chat's own list; pictures stand with the question alone. */
function toFiles({ userMessage }: RunRequest): unknown[] {
  const isPicture = (file: unknown) => (file as { type?: unknown } | null)?.type === "image";
  return (userMessage?.files ?? []).filter((file) => !isPicture(file));
}

async function makeChat(
  asked: RunRequest,
  plans: readonly ReplyPlan[],
  { principal, chats, chatId }: Place,
): Promise<ChatFacts> {
  const { messages } = toMissing(asked, plans, new Map());
  return await chats.create(principal, {
    id: chatId,
    title: "New Chat",
    models: toModels(plans),
    messages,
    files: toFiles(asked),
    folderId: asked.folderId,
    variables: asked.variables,
  });
}

/** Throws `not_found` where a reply shall go on that is not there, or something hang below what is not there. */
function requirePlaces(
  { userMessage: user, parentId, continues }: RunRequest,
  plans: readonly ReplyPlan[],
  places: ReadonlyMap<string, MessagePlace>,
): void {
  const isMissing = plans.some(({ reply }) => !places.has(reply.messageId));
  const below = user ? (user.parentId ?? parentId) : parentId;
  const isHanging = user ? !places.has(user.id) : isMissing;
  if ((continues && isMissing) || (isHanging && below !== undefined && !places.has(below))) {
    throw new AppError("not_found", "Message not found");
  }
}

/** The messages that are not there yet, and those that hang elsewhere than the request says. */
function toMissing(
  asked: RunRequest,
  plans: readonly ReplyPlan[],
  places: ReadonlyMap<string, MessagePlace>,
): { messages: AppendedMessage[]; moves: boolean } {
  const { userMessage: user, parentId } = asked;
  const messages = (asked.earlier ?? []).map((turn) => toTurn(turn, turn.role === "user" ? plans : []));
  let moves = false;
  if (user && !places.has(user.id)) {
    messages.push(toTurn({ ...user, parentId: user.parentId ?? parentId }, plans));
  }
  for (const { reply, model } of plans) {
    const place = places.get(reply.messageId);
    if (place !== undefined && place.role !== "assistant") {
      throw new AppError("invalid", `id: ${reply.messageId} is not a message of the assistant.`);
    }
    if (place === undefined) {
      messages.push(toPlaceholder(reply, model, user?.id ?? parentId ?? null));
    } else if (user && place.parentId !== user.id && !asked.continues) {
      moves = true;
      messages.push({ id: reply.messageId, role: "assistant", parentId: user.id });
    }
  }
  return { messages, moves };
}

/** A turn as it is stored; a question names the models that it was put to. */
function toTurn(turn: UserMessage, plans: readonly ReplyPlan[]): AppendedMessage {
  const { timestamp, models, ...rest } = turn;
  const asks = models ?? (plans.length > 0 ? plans.map(({ model }) => model.id) : undefined);
  return {
    ...rest,
    role: turn.role ?? "user",
    content: turn.content ?? "",
    parentId: turn.parentId ?? null,
    timestamp: timestamp ?? seconds(),
    ...(asks && { models: asks }),
  };
}

function toPlaceholder(
  reply: RequestedReply,
  model: ResolvedModel,
  parentId: string | null,
): AppendedMessage {
  return {
    id: reply.messageId,
    role: "assistant",
    content: "",
    parentId,
    model: model.id,
    modelName: model.name,
    modelIdx: reply.modelIdx,
    timestamp: seconds(),
    done: false,
  };
}
