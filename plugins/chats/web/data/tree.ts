import type { ChatMessage } from "./types.ts";

export type Messages = ReadonlyMap<string, ChatMessage>;

/** The messages from the first one to this leaf. */
export function branchTo(messages: Messages, leafId: string | undefined): readonly ChatMessage[] {
  const branch: ChatMessage[] = [];
  const seen = new Set<string>();
  for (let id: string | null = leafId ?? null; id !== null && !seen.has(id);) {
    seen.add(id);
    const message: ChatMessage | undefined = messages.get(id);
    if (message === undefined) {
      break;
    }
    branch.push(message);
    id = message.parentId;
  }
  return branch.toReversed();
}

/** The newest end of the branch that runs through this message. */
export function leafOf(messages: Messages, messageId: string): string {
  const seen = new Set<string>();
  let id = messageId;
  while (!seen.has(id)) {
    seen.add(id);
    id = childrenOf(messages, id).at(-1)?.id ?? id;
  }
  return id;
}

/** Ids of all versions of a message, oldest first; replies side by side are versions of their own column alone. */
export function versionsOf(messages: Messages, messageId: string): readonly string[] {
  const message = messages.get(messageId);
  return message === undefined
    ? []
    : siblingsOf(messages, message)
        .filter(({ role, modelIdx = 0 }) => role === message.role && modelIdx === (message.modelIdx ?? 0))
        .map(({ id }) => id);
}

/** Replies of several models to one question, in their order; of each column its newest version, or the given one. */
export function columnsOf(messages: Messages, replyId: string): readonly ChatMessage[] {
  const reply = messages.get(replyId);
  if (reply === undefined || reply.role === "user") {
    return reply === undefined ? [] : [reply];
  }
  const columns = new Map<number, ChatMessage>();
  for (const each of siblingsOf(messages, reply)) {
    if (each.role === "assistant") {
      columns.set(each.modelIdx ?? 0, each);
    }
  }
  columns.set(reply.modelIdx ?? 0, reply);
  return [...columns].toSorted(([a], [b]) => a - b).map(([, column]) => column);
}

/** True where messages go on in more than one way. */
export function isBranched(messages: Messages): boolean {
  const roots = [...messages.values()].filter(({ parentId }) => parentId === null);
  return roots.length > 1 || messages.values().some(({ childrenIds }) => childrenIds.length > 1);
}

function siblingsOf(messages: Messages, message: ChatMessage): readonly ChatMessage[] {
  return message.parentId === null
    ? [...messages.values()].filter(({ parentId }) => parentId === null)
    : childrenOf(messages, message.parentId);
}

function childrenOf(messages: Messages, id: string): readonly ChatMessage[] {
  return (messages.get(id)?.childrenIds ?? []).flatMap((child) => messages.get(child) ?? []);
}
