import { setImmediate as nextTurn } from "node:timers/promises";
import type { Principal } from "#kernel/access/principal.ts";
import type { ChatRow } from "./chat-store.ts";
import { requireFolder, withKnownFolder } from "./folders/folders.ts";
import { announce, announceMessages, type ChatParts, toActor } from "./parts.ts";
import { mergeChat, type MergeRules } from "./tree/merge-chat.ts";
import { type NewChatFacts, storeChat } from "./tree/new-chat.ts";
import { prepareChat, type PreparedChat } from "./tree/prepare-chat.ts";
import type { SentChat } from "./schema.ts";
import { type ReadChat, storeChats, toNamed } from "./tree/store-chats.ts";
import { withClearConflicts } from "./violations.ts";

export interface ImportedChat {
  readonly chat: SentChat;
  readonly facts: NewChatFacts;
}

/** What changes of a chat. */
export interface ChatChange extends MergeRules, Pick<PreparedChat, "addedFiles"> {
  readonly chat: SentChat;
}

/** Imports go on when their callers leave. */
const never = new AbortController().signal;

export type ChatActions = ReturnType<typeof createChatActions>;

/** What owners do with whole chats. */
export function createChatActions(parts: ChatParts) {
  const { transaction, chats, events, limits } = parts;

  return {
    async create(caller: Principal, sent: SentChat, facts: NewChatFacts): Promise<ChatRow> {
      if (facts.folder_id) {
        await requireFolder(parts, caller, { id: facts.folder_id, action: "write" });
      }
      const prepared = await prepareChat(parts, caller, { sent, isNew: true });
      const row = await withClearConflicts(() =>
        transaction((tx) => storeChat(tx, caller, { prepared, facts, heal: false })),
      );
      announce(events, "chat.created", { by: caller, id: row.id, data: { title: row.title } });
      const messages = prepared.tree.messages.map(({ id, message }) => ({
        id,
        role: String(message["role"]),
      }));
      announceMessages(events, toActor(caller), { id: row.id, messages });
      return row;
    },

    /** Stores chats of an export as new ones of the caller: all or none. `bytes` is the size of the request. */
    async import(caller: Principal, list: readonly ImportedChat[], bytes: number): Promise<ChatRow[]> {
      const leave = limits.imports.enter(caller.userId);
      try {
        limits.copyBytes.take(caller.userId, bytes);
        return await limits.importTurns(caller.userId, () => importAll(caller, list), never);
      } finally {
        leave();
      }
    },

    change,
  };

  async function importAll(caller: Principal, list: readonly ImportedChat[]): Promise<ChatRow[]> {
    const prepared: ReadChat[] = [];
    for (const [at, { chat, facts }] of list.entries()) {
      const sending = { sent: chat, isNew: true, heal: true };
      prepared.push({
        facts: await withKnownFolder(parts, caller, facts),
        prepared: await prepareChat(parts, caller, sending).catch((error: unknown) => {
          throw toNamed(at, error);
        }),
      });
      // Ten thousand chats must not keep the event loop.
      if (at % 100 === 99) {
        await nextTurn();
      }
    }
    const rows = await withClearConflicts(() => storeChats(parts, caller, prepared));
    for (const { id, title } of rows) {
      announce(events, "chat.imported", { by: caller, id, data: { title } });
    }
    return rows;
  }

  /** Merges a partial chat. Throws `not_found`, `forbidden`, or `invalid` for a broken tree. */
  async function change(
    caller: Principal,
    id: string,
    { chat, addedFiles, ...rules }: ChatChange,
  ): Promise<ChatRow> {
    await chats.load(caller, id, "write");
    const prepared = await prepareChat(parts, caller, { sent: chat, isNew: false, addedFiles });
    const { row, added } = await withClearConflicts(() =>
      transaction((tx) => mergeChat(tx, id, { ...prepared, ...rules })),
    );
    announce(events, "chat.updated", { by: caller, id, data: { title: row.title } });
    announceMessages(events, toActor(caller), { id, messages: added });
    return row;
  }
}
