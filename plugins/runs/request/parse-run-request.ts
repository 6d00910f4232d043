import { randomUUID } from "node:crypto";
import { z } from "zod";
import type { CompletionRequest } from "#kernel/completion/request.ts";
import { AppError } from "#kernel/errors.ts";

const Id = z.string().min(1).max(200);

const UserMessage = z.looseObject({
  id: Id,
  role: z.enum(["user", "assistant", "system"]).optional(),
  content: z.union([z.string(), z.array(z.looseObject({ type: z.string() })), z.null()]).optional(),
  parentId: Id.nullish(),
  timestamp: z.number().nullish(),
  models: z.array(z.string()).nullish(),
  files: z.array(z.unknown()).nullish(),
});

/** What a chat-bound request may say besides the fields of every completion (contract §3.1). */
const ChatRequest = z.looseObject({
  chat_id: z.string().max(200).nullish(),
  id: Id.nullish(),
  parent_id: Id.nullish(),
  user_message: UserMessage.nullish(),
  parent_message: UserMessage.nullish(),
  message_ids: z
    .array(z.looseObject({ model_id: Id, message_id: Id, modelIdx: z.int().min(0).nullish() }))
    .min(1)
    .max(20)
    .nullish(),
  assistant_message_id: Id.nullish(),
  regeneration_prompt: z.string().nullish(),
  folder_id: Id.nullish(),
  chat_variables: z.record(z.string(), z.unknown()).nullish(),
});

export type UserMessage = z.output<typeof UserMessage>;

/** One reply that is asked for. */
export interface RequestedReply {
  readonly messageId: string;
  readonly modelId: string;
  readonly modelIdx: number;
  /** False for all but the first of a fan-out. */
  readonly isFirst: boolean;
}

/** A chat-bound request, read. */
export interface RunRequest {
  readonly request: CompletionRequest;
  /** Undefined where the server makes the chat. */
  readonly chatId: string | undefined;
  readonly replies: readonly RequestedReply[];
  readonly userMessage: UserMessage | undefined;
  /** Turns before the question, where it was taken from `messages`: the oldest first, each with its parent. */
  readonly earlier: readonly UserMessage[] | undefined;
  readonly parentId: string | undefined;
  /** True when the reply goes on where an earlier run of it ended. */
  readonly continues: boolean;
  readonly regenerationPrompt: string | undefined;
  readonly folderId: string | undefined;
  readonly variables: Readonly<Record<string, unknown>> | undefined;
  readonly sessionId: string | undefined;
}

/** Reads what a request wants of a chat. Throws `invalid` naming the field that is wrong, or cannot be stored. */
export function parseRunRequest(request: CompletionRequest): RunRequest {
  const read = ChatRequest.safeParse(request);
  if (!read.success) {
    const [issue] = read.error.issues;
    throw new AppError("invalid", `${issue?.path.join(".") ?? "body"}: ${issue?.message ?? "wrong"}`);
  }
  const asked = read.data;
  Object.keys(ChatRequest.shape).forEach((key) => requireStorable(asked[key], key));
  const chatId = asked.chat_id || undefined;
  if (chatId === "temporary:") {
    throw new AppError("invalid", "chat_id: a temporary chat needs an id behind the colon.");
  }
  const replies = toReplies(request, asked);
  const named = asked.user_message ?? asked.parent_message ?? undefined;
  const sent = named || chatId ? undefined : toTurns(request);
  const userMessage = named ?? sent?.at(-1);
  if (replies.some(({ messageId }) => messageId === userMessage?.id)) {
    throw new AppError("invalid", "user_message.id: a reply has the same id.");
  }
  return {
    request,
    chatId,
    replies,
    userMessage,
    earlier: sent?.slice(0, -1),
    parentId: asked.parent_id ?? undefined,
    continues: Boolean(asked.assistant_message_id),
    regenerationPrompt: asked.regeneration_prompt || undefined,
    folderId: asked.folder_id ?? undefined,
    variables: asked.chat_variables ?? undefined,
    sessionId: request.session_id || undefined,
  };
}

function toReplies({ model }: CompletionRequest, asked: z.output<typeof ChatRequest>): RequestedReply[] {
  const single = asked.assistant_message_id ?? asked.id;
  const wanted = asked.message_ids ?? [{ model_id: model, message_id: single ?? randomUUID(), modelIdx: 0 }];
  const ids = new Set(wanted.map(({ message_id: id }) => id));
  if (ids.size < wanted.length) {
    throw new AppError("invalid", "message_ids: two replies have the same message_id.");
  }
  return wanted.map(({ model_id: modelId, message_id: messageId, modelIdx }, at) => ({
    messageId,
    modelId,
    modelIdx: modelIdx ?? at,
    isFirst: at === 0,
  }));
}

/** Throws `invalid` for text that the database cannot hold. */
function requireStorable(value: unknown, path: string): void {
  if (typeof value === "string" && (value.includes("\u0000") || !value.isWellFormed())) {
    throw new AppError(
      "invalid",
      `${path}: holds a NUL character or a broken character, which cannot be stored.`,
    );
  }
  if (typeof value === "object" && value !== null) {
    for (const [key, inner] of Object.entries(value)) {
      requireStorable(key, path);
      requireStorable(inner, `${path}.${key}`);
    }
  }
}

/** A chat that the server makes without a question begins with what was said, up to the last question. */
function toTurns({ messages }: CompletionRequest): UserMessage[] | undefined {
  const end = messages.findLastIndex(({ role }) => role === "user") + 1;
  const turns: UserMessage[] = [];
  for (const { role, content } of messages.slice(0, end)) {
    // A message that only calls tools is no turn.
    if (role === "user" || (role === "assistant" && content)) {
      turns.push({ id: randomUUID(), role, content: content ?? "", parentId: turns.at(-1)?.id });
    }
  }
  requireStorable(turns, "messages");
  return turns.length > 0 ? turns : undefined;
}
