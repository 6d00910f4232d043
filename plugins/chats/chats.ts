import type { Principal } from "#kernel/access/principal.ts";
import type { ChatRow } from "./chat-store.ts";
import { requireFolder, withKnownFolder } from "./folders.ts";
import { announce, type ChatParts } from "./parts.ts";
import { mergeChat, type NewChatFacts, prepareChat, type PreparedChat, storeChat } from "./save.ts";
import type { SentChat } from "./schema.ts";
import { withClearConflicts } from "./violations.ts";

export interface ImportedChat {
  readonly chat: SentChat;
  readonly facts: NewChatFacts;
}

/** What changes of a chat; variables that are left out stay. */
export interface ChatChange {
  readonly chat: SentChat;
  readonly variables?: Record<string, unknown> | null | undefined;
}

export type ChatActions = ReturnType<typeof createChatActions>;

/** What owners do with whole chats. */
export function createChatActions(parts: ChatParts) {
  const { transaction, chats, events } = parts;

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
      return row;
    },

    /** Stores chats of an export as new ones of the caller: all or none. */
    async import(caller: Principal, list: readonly ImportedChat[]): Promise<ChatRow[]> {
      const prepared: { facts: NewChatFacts; prepared: PreparedChat }[] = [];
      for (const { chat, facts } of list) {
        prepared.push({
          facts: await withKnownFolder(parts, caller, facts),
          prepared: await prepareChat(parts, caller, { sent: chat, isNew: true }),
        });
      }
      const rows = await withClearConflicts(() =>
        transaction(async (tx) => {
          const stored: ChatRow[] = [];
          for (const one of prepared) {
            stored.push(await storeChat(tx, caller, { ...one, heal: true }));
          }
          return stored;
        }),
      );
      for (const { id, title } of rows) {
        announce(events, "chat.imported", { by: caller, id, data: { title } });
      }
      return rows;
    },

    update: (caller: Principal, id: string, sent: SentChat): Promise<ChatRow> =>
      change(caller, id, { chat: sent }),
    change,
  };

  /** Merges a partial chat. Throws `not_found`, `forbidden`, or `invalid` for a broken tree. */
  async function change(caller: Principal, id: string, { chat, variables }: ChatChange): Promise<ChatRow> {
    await chats.load(caller, id, "write");
    const prepared = await prepareChat(parts, caller, { sent: chat, isNew: false });
    const row = await withClearConflicts(() =>
      transaction((tx) => mergeChat(tx, id, { ...prepared, variables })),
    );
    announce(events, "chat.updated", { by: caller, id, data: { title: row.title } });
    return row;
  }
}
