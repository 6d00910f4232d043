import { ApiError } from "#plugins/web/kit/client.ts";
import { t } from "#plugins/web/kit/i18n/index.svelte.ts";
import { newId } from "#plugins/web/kit/new-id.ts";
import { server } from "#plugins/web/kit/server.ts";
import type { ChatState } from "./chat-state.svelte.ts";
import { toStored } from "./chosen-tools.ts";
import { chatList } from "./list.svelte.ts";
import type { Asked } from "./request.ts";
import { textOf } from "./reply.ts";
import { readContent } from "./server-chat.ts";
import { toStorable } from "./storable-text.ts";
import { columnsOf } from "./tree.ts";
import type { ChatMessage, ChosenTools, Controls, Rating } from "./types.ts";

// Changes of stored messages; `ChatStore` offers each as a method.

type Bag = Readonly<Record<string, unknown>>;

/** How the server calls a chat that has no title yet. */
const untitled = "New Chat";

/** A chat whose models can be asked. */
interface AskedChat extends ChatState {
  readonly isRunning: boolean;
  ask(question: ChatMessage, models: readonly string[], more?: Asked): Promise<void>;
}

/** Stores keys of the chat, or of its messages, on the server; chats that are not stored change in the page alone. */
async function store(chat: AskedChat, change: Bag, variables?: Bag): Promise<void> {
  if (chat.id !== undefined && !chat.isTemporary) {
    await server.call("POST /api/v1/chats/:id", {
      params: { id: chat.id },
      headers: { prefer: "return=minimal" },
      body: { chat: change, ...(variables && { variables }) } as never,
    });
  }
}

const storeMessages = (chat: AskedChat, messages: Readonly<Record<string, Bag>>) =>
  store(chat, { history: { messages } });

/** Remembers which branch is shown. */
export async function storeLeaf(chat: AskedChat): Promise<void> {
  if (chat.canWrite && !chat.isRunning) {
    // The branch is a matter of the page: it opens with another one when this is lost.
    await store(chat, { history: { messages: {}, currentId: chat.leafId } }).catch(() => undefined);
  }
}

export async function regenerate(
  chat: AskedChat,
  replyId: string,
  { model, instruction }: { model?: string; instruction?: string },
): Promise<void> {
  const reply = require(chat, replyId);
  const question = require(chat, reply.parentId ?? "");
  const wanted = model ?? reply.model ?? chat.models[0] ?? "";
  // A chat whose first reply failed has no title yet.
  const isFirst = question.parentId === null && chat.title === untitled;
  const replies = [{ id: newId(), model: wanted, modelIdx: reply.modelIdx ?? 0 }];
  await chat.ask(question, [wanted], { replies, instruction, isFirst });
}

export async function continueReply(chat: AskedChat, replyId: string): Promise<void> {
  const reply = require(chat, replyId);
  const question = require(chat, reply.parentId ?? "");
  const { error: _error, ending: _ending, ...rest } = reply;
  chat.messages.set(replyId, { ...rest, done: false });
  const replies = [{ id: replyId, model: reply.model ?? "", modelIdx: reply.modelIdx ?? 0 }];
  await chat.ask(question, [], { replies, continues: true });
}

/** Changes what a message says. Another window that changed it first is shown, and both texts. */
export async function edit(
  chat: AskedChat,
  messageId: string,
  { text: typed, before }: { text: string; before: string },
): Promise<void> {
  require(chat, messageId);
  const text = toStorable(typed);
  try {
    await write(chat, messageId, { text, before });
  } catch (error) {
    const theirs = contentOf(error);
    if (theirs === undefined) {
      throw error;
    }
    chat.conflict = { messageId, mine: text, theirs };
  }
}

/** What the message says by now, where that is why the server refused. */
function contentOf(error: unknown): string | undefined {
  const detail = error instanceof ApiError && error.status === 409 && (error.body as Bag | null)?.["detail"];
  return detail && typeof detail === "object" ? readContent((detail as Bag)["content"]) : undefined;
}

export async function resolveConflict(chat: AskedChat, keep: "mine" | "theirs"): Promise<void> {
  const conflict = chat.conflict;
  if (!conflict) {
    return;
  }
  const { messageId, mine, theirs } = conflict;
  if (keep === "mine") {
    await edit(chat, messageId, { text: mine, before: theirs });
  } else {
    setText(chat, messageId, theirs);
  }
  // Somebody may have been quicker once more.
  chat.conflict = chat.conflict === conflict ? undefined : chat.conflict;
}

/** Stores what a message says; chats that are not stored change in the page alone. */
export async function write(
  chat: AskedChat,
  messageId: string,
  { text, before }: { text: string; before?: string },
): Promise<void> {
  if (chat.id !== undefined && !chat.isTemporary) {
    await server.call("POST /api/v1/chats/:id/messages/:message_id", {
      params: { id: chat.id, message_id: messageId },
      headers: { prefer: "return=minimal" },
      body: { content: text, ...(before !== undefined && { expected: before }) },
    });
  }
  setText(chat, messageId, text);
}

function setText(chat: AskedChat, messageId: string, text: string): void {
  chat.patchText(messageId, text);
}

/** Takes a message out; what followed it follows the one before. The returned function puts all of it back. */
export async function remove(chat: AskedChat, messageId: string): Promise<() => Promise<void>> {
  const gone = require(chat, messageId);
  const leaf = chat.leafId;
  const touched = [
    gone,
    ...gone.childrenIds.map((id) => chat.message(id)),
    chat.message(gone.parentId ?? ""),
  ];
  const before = touched.filter((one) => one !== undefined);
  if (!chat.isTemporary && chat.id !== undefined) {
    await server.call("DELETE /api/v1/chats/:id/messages/:message_id", {
      params: { id: chat.id, message_id: messageId },
      headers: { prefer: "return=minimal" },
    });
  }
  takeOut(chat, gone);
  return async () => {
    before.forEach((message) => chat.messages.set(message.id, message));
    chat.leafId = leaf;
    chat.changed();
    const messages = Object.fromEntries(before.map((message) => [message.id, message as unknown as Bag]));
    await store(chat, { history: { messages, currentId: leaf } });
  };
}

function takeOut(chat: AskedChat, { id, parentId, childrenIds }: ChatMessage): void {
  childrenIds.forEach((child) => chat.patch(child, { parentId }));
  const parent = parentId === null ? undefined : chat.message(parentId);
  if (parent) {
    const at = parent.childrenIds.indexOf(id);
    chat.patch(parent.id, { childrenIds: parent.childrenIds.toSpliced(at, 1, ...childrenIds) });
  }
  chat.messages.delete(id);
  const next = childrenIds[0] ?? parent?.childrenIds.find((one) => one !== id) ?? parentId;
  chat.leafId = chat.leafId === id ? next : chat.leafId;
  chat.changed();
}

export async function rate(chat: AskedChat, replyId: string, rating: Rating | undefined): Promise<void> {
  const reply = require(chat, replyId);
  const id = chat.id;
  if (id === undefined || chat.isTemporary) {
    return;
  }
  if (rating === undefined) {
    if (reply.feedbackId) {
      await server.call("DELETE /api/v1/evaluations/feedback/:id", { params: { id: reply.feedbackId } });
    }
    chat.patch(replyId, { annotation: undefined, feedbackId: undefined } as never);
    await storeMessages(chat, { [replyId]: { annotation: null, feedbackId: null } });
    return;
  }
  const others = columnsOf(chat.messages, replyId).filter((one) => one.id !== replyId);
  const data = {
    ...rating,
    model_id: reply.selectedModelId ?? reply.model ?? "",
    sibling_model_ids: others.map(({ model }) => model ?? "").filter((model) => model !== ""),
  };
  const meta = { chat_id: id, message_id: replyId, arena: reply.selectedModelId !== undefined };
  const made = (await server.call("POST /api/v1/evaluations/feedback", {
    body: { type: "rating", data, meta },
  })) as { id: string };
  chat.patch(replyId, { annotation: rating, feedbackId: made.id });
  await storeMessages(chat, { [replyId]: { annotation: rating, feedbackId: made.id } });
}

/** Makes one answer out of those side by side, shown while it is written. */
export async function merge(chat: AskedChat, replyId: string): Promise<void> {
  const reply = require(chat, replyId);
  const question = require(chat, reply.parentId ?? "");
  const responses = columnsOf(chat.messages, replyId).map((one) => textOf(one));
  chat.patch(replyId, { merged: { content: "", status: false } });
  const answer = (await server.call("POST /api/v1/tasks/moa/completions", {
    body: { model: reply.model ?? "", prompt: question.content, responses, stream: false } as never,
  })) as { choices?: { message?: { content?: string } }[] };
  const merged = { content: answer.choices?.[0]?.message?.content ?? "", status: true };
  chat.patch(replyId, { merged });
  await storeMessages(chat, { [replyId]: { merged } });
}

export async function rename(chat: AskedChat, typed: string): Promise<void> {
  const title = toStorable(typed);
  const before = chat.title;
  chat.title = title;
  await store(chat, { title }).catch((error: unknown) => {
    chat.title = before;
    throw error;
  });
}

export async function setControls(chat: AskedChat, change: Partial<Controls>): Promise<void> {
  chat.controls = { ...chat.controls, ...change };
  const { system, params, variables } = chat.controls;
  await store(chat, { params: { ...params, ...(system !== "" && { system }) } }, variables);
}

/** A chat without an id has it stored with its first message. */
export async function setTools(chat: AskedChat, chosen: ChosenTools | undefined): Promise<void> {
  chat.chosenTools = chosen;
  await store(
    chat,
    chosen
      ? toStored(chosen)
      : { tool_ids: null, features: null, excluded_tool_ids: null, terminal_id: null },
  );
}

/** Chooses the models of a chat, which it keeps for the next time it is opened. */
export async function setModels(chat: AskedChat, models: readonly string[]): Promise<void> {
  chat.models = models;
  await store(chat, { models: [...models] });
}

/** Stores a chat that was temporary until now. */
export async function keep(chat: AskedChat): Promise<void> {
  const first = chat.branch.find(({ role }) => role === "user")?.content ?? "";
  const title = chat.title || Array.from(first.slice(0, 160)).slice(0, 80).join("") || t("New chat");
  const made = (await server.call("POST /api/v1/chats/new", {
    body: {
      chat: {
        title,
        models: [...chat.models],
        params: { ...chat.controls.params, system: chat.controls.system },
        ...(chat.chosenTools && toStored(chat.chosenTools)),
        history: { messages: Object.fromEntries(chat.messages), currentId: chat.leafId },
      },
      // A folder that somebody shares lends its instructions; chats are kept in one's own.
      folder_id: chatList.folders.some(({ id }) => id === chat.folderId) ? chat.folderId : null,
    } as never,
  })) as { id: string };
  chat.isTemporary = false;
  chat.title = title;
  chat.id = made.id;
}

export async function fork(chat: AskedChat, messageId: string): Promise<string> {
  const made = await server.call("POST /api/v1/chats/:id/fork", {
    params: { id: chat.id ?? "" },
    headers: { prefer: "return=minimal" },
    body: { message_id: messageId },
  });
  return (made as { id: string }).id;
}

function require(chat: AskedChat, id: string): ChatMessage {
  const message = chat.message(id);
  if (!message) {
    throw new Error(t("This message was deleted."));
  }
  return message;
}
