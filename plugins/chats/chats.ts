import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import type { ChatRow } from "./chat-store.ts";
import { requireFolder, withKnownFolder } from "./folders/folders.ts";
import { announce, type ChatParts } from "./parts.ts";
import {
  mergeChat,
  type MergeRules,
  type NewChatFacts,
  prepareChat,
  type PreparedChat,
  storeChat,
} from "./tree/save.ts";
import type { SentChat } from "./schema.ts";
import { withClearConflicts } from "./violations.ts";

export interface ImportedChat {
  readonly chat: SentChat;
  readonly facts: NewChatFacts;
}

/** What changes of a chat. */
export interface ChatChange extends MergeRules, Pick<PreparedChat, "addedFiles"> {
  readonly chat: SentChat;
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
      for (const [at, { chat, facts }] of list.entries()) {
        const sending = { sent: chat, isNew: true, heal: true };
        prepared.push({
          facts: await withKnownFolder(parts, caller, facts),
          prepared: await named(at, () => prepareChat(parts, caller, sending)),
        });
      }
      const rows = await withClearConflicts(() =>
        transaction(async (tx) => {
          const stored: ChatRow[] = [];
          for (const [at, one] of prepared.entries()) {
            stored.push(await named(at, () => storeChat(tx, caller, { ...one, heal: true })));
          }
          return stored;
        }),
      );
      for (const { id, title } of rows) {
        announce(events, "chat.imported", { by: caller, id, data: { title } });
      }
      return rows;
    },

    change,
  };

  /** Merges a partial chat. Throws `not_found`, `forbidden`, or `invalid` for a broken tree. */
  async function change(
    caller: Principal,
    id: string,
    { chat, addedFiles, ...rules }: ChatChange,
  ): Promise<ChatRow> {
    await chats.load(caller, id, "write");
    const prepared = await prepareChat(parts, caller, { sent: chat, isNew: false, addedFiles });
    const row = await withClearConflicts(() =>
      transaction((tx) => mergeChat(tx, id, { ...prepared, ...rules })),
    );
    announce(events, "chat.updated", { by: caller, id, data: { title: row.title } });
    return row;
  }
}

/** Says of a chat that cannot be stored which one of an import it is. */
async function named<T>(at: number, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    throw error instanceof AppError && error.code === "invalid"
      ? new AppError("invalid", `Chat ${at} of the import: ${error.message}`, { cause: error })
      : error;
  }
}
