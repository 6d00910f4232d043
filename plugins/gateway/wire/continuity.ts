import { createHash, randomUUID } from "node:crypto";
import type { Principal } from "#kernel/access/principal.ts";
import type { CompletionRequest } from "#kernel/completion/request.ts";
import { firstCharacters } from "#kernel/first-characters.ts";
import { seconds } from "#storage/clock.ts";
import type { ChatFacts, Chats } from "#plugins/chats/service.ts";
import type { GatewayDatabase } from "../tables.ts";
import type { Workspace } from "../workspaces/workspaces.ts";
import type { CallerIds, Conversation } from "./request.ts";

export interface Placing {
  readonly owner: Principal;
  readonly workspace: Workspace;
  readonly modelId: string;
  readonly ids: CallerIds;
  readonly conversation: Conversation;
}

export interface ContinuityParts {
  readonly db: GatewayDatabase;
  readonly chats: Chats;
}

const longestTitle = 80;

/** The place of a task; nothing of it is written yet. */
export interface TaskPlace {
  readonly chatId: string;
  /** Undefined for a chat that has to be made. */
  readonly chat: ChatFacts | undefined;
  /** The message that the reply is written into. */
  readonly messageId: string;
  /** True for a reply that was interrupted and goes on. */
  readonly continues: boolean;
}

/** Finds the chat of a request, or chooses the id of a new one, and the message of the reply. */
export async function choosePlace(placing: Placing, parts: ContinuityParts): Promise<TaskPlace> {
  const { message } = placing.ids;
  const chat = await findChat(placing, parts);
  const chatId = chat?.id ?? randomUUID();
  const reply = await chooseReply(
    chatId,
    message === undefined ? undefined : toMessageId(chatId, message),
    parts,
  );
  return { chatId, chat, messageId: reply.id, continues: reply.continues };
}

/**
 * Makes the chat of a request where there is none, and finds the place in its tree: with message ids an edit becomes a
 * branch beside the edited question, a regeneration a further reply to the same one (document 2, Conversation
 * continuity). The caller's ids become ids of this chat's own, for a caller may be a chat platform whose messages stand
 * in the same database. Resolves to the request that begins the run.
 */
export async function placeTask(
  place: TaskPlace,
  placing: Placing,
  parts: ContinuityParts,
): Promise<CompletionRequest> {
  const { ids, conversation, modelId } = placing;
  const { chatId, messageId, continues } = place;
  const { system, question } = conversation;
  const chat = place.chat ?? (await makeChat(chatId, placing, parts));
  const parentId = await findParent(chat, place.chat !== undefined, placing, parts);
  const user = {
    id: ids.userMessage === undefined ? randomUUID() : toMessageId(chatId, ids.userMessage),
    role: "user" as const,
    content: question.content ?? "",
    ...(parentId !== null && { parentId }),
  };
  return {
    model: modelId,
    messages: [...(system ? [system] : []), question],
    stream: true,
    chat_id: chatId,
    user_message: user,
    ...(continues ? { assistant_message_id: messageId } : { id: messageId }),
  } as CompletionRequest;
}

/** An id that no message of another chat has. */
function toMessageId(chatId: string, id: string): string {
  const hex = createHash("sha256").update(`${chatId}\n${id}`).digest("hex");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join(
    "-",
  );
}

/** The id is the one that the caller chose, or the one that an earlier answer named. */
async function findChat(
  { owner, workspace, ids }: Placing,
  { db, chats }: ContinuityParts,
): Promise<ChatFacts | undefined> {
  const { chat } = ids;
  if (chat === undefined) {
    return undefined;
  }
  const row = await db
    .selectFrom("gateway_chat")
    .select("chat_id")
    .where("workspace_id", "=", workspace.id)
    .where("user_id", "=", owner.userId)
    .where((where) => where.or([where("external_id", "=", chat), where("chat_id", "=", chat)]))
    .executeTakeFirst();
  return row && (await chats.require(owner, row.chat_id));
}

async function makeChat(
  id: string,
  { owner, workspace, modelId, ids, conversation }: Placing,
  { db, chats }: ContinuityParts,
): Promise<ChatFacts> {
  const made = await chats.create(owner, {
    id,
    title: toTitle(conversation),
    models: [modelId],
    messages: [],
    meta: { gateway: { workspace_id: workspace.id, name: workspace.name } },
  });
  await db
    .insertInto("gateway_chat")
    .values({
      chat_id: id,
      workspace_id: workspace.id,
      user_id: owner.userId,
      external_id: ids.chat ?? null,
      created_at: seconds(),
    })
    .execute();
  return made;
}

function toTitle({ question: { content } }: Conversation): string {
  const parts = typeof content === "string" ? [content] : (content ?? []).map((part) => part["text"]);
  const text = parts.filter((part) => typeof part === "string").join(" ");
  const line = text.replaceAll(/\s+/g, " ").trim();
  return line.length > longestTitle ? `${firstCharacters(line, longestTitle)}…` : line || "New Chat";
}

/** The message that the question follows; null for one that begins the chat. */
async function findParent(
  chat: ChatFacts,
  isKnown: boolean,
  { ids, conversation: { earlier } }: Placing,
  { chats }: ContinuityParts,
): Promise<string | null> {
  const named = ids.userMessageParent === undefined ? undefined : toMessageId(chat.id, ids.userMessageParent);
  if (named !== undefined && (await chats.places(chat.id, [named])).has(named)) {
    return named;
  }
  if (isKnown && named === undefined) {
    // With an id of its own and no parent a question begins the chat anew: its first one was edited.
    return ids.userMessage === undefined ? chat.current_message_id : null;
  }
  if (earlier.length === 0) {
    return null;
  }
  let parentId: string | null = null;
  const turns = earlier.map(({ role, content }, at) => {
    const id = at === earlier.length - 1 && named !== undefined ? named : randomUUID();
    const turn = { id, role, content: content ?? "", parentId, timestamp: seconds(), done: true };
    parentId = id;
    return turn;
  });
  await chats.append(chat.id, turns);
  return parentId;
}

/** A reply that was interrupted goes on; one that is complete gets another beside it. */
async function chooseReply(
  chatId: string,
  wanted: string | undefined,
  { chats }: ContinuityParts,
): Promise<{ id: string; continues: boolean }> {
  const found = wanted === undefined ? undefined : await chats.message(chatId, wanted);
  if (wanted === undefined || found === undefined) {
    return { id: wanted ?? randomUUID(), continues: false };
  }
  const { done, error } = found.message as { done?: unknown; error?: { content?: unknown } };
  if (done === true && error?.content !== "interrupted") {
    return { id: randomUUID(), continues: false };
  }
  return { id: wanted, continues: done === true };
}
