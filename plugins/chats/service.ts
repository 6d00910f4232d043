import type { Principal } from "#kernel/access/principal.ts";
import { defineEvent } from "#kernel/events.ts";
import { defineService, defineSlot } from "#kernel/service.ts";
import type { Grants } from "#storage/grants.ts";
import type { Replies } from "./replies/service-types.ts";

export type {
  CallPlace,
  Checkpoint,
  GrownItem,
  InterruptedReply,
  Replies,
  Reply,
  ReplyListKey,
  ReplyState,
} from "./replies/service-types.ts";

/** A message in wire form: `{id, role, content, parentId, childrenIds, …}` (Core API, Message). */
export type ChatMessage = Readonly<Record<string, unknown>> & {
  readonly id: string;
  readonly parentId: string | null;
  readonly childrenIds: readonly string[];
};

/** What a run needs to know of the chat it writes into. */
export interface ChatFacts {
  readonly id: string;
  readonly user_id: string;
  readonly title: string;
  readonly folder_id: string | null;
  readonly current_message_id: string | null;
  readonly meta: Readonly<Record<string, unknown>>;
  readonly variables: Readonly<Record<string, unknown>>;
  /** Models, params and further keys of the chat object, without messages and files. */
  readonly chat: Readonly<Record<string, unknown>>;
}

/** A message that is appended; further keys are those of the wire. */
export type AppendedMessage = Readonly<Record<string, unknown>> & {
  readonly id: string;
  readonly role: "user" | "assistant" | "system";
  /** The message it follows: one that is there, or one before it in the same call. */
  readonly parentId: string | null;
};

/** Where a message stands that somebody named. */
export interface MessagePlace {
  readonly id: string;
  readonly role: string;
  readonly parentId: string | null;
}

/** A chat that the server makes for its owner. */
export interface CreatedChat {
  /** Made up where none is given. */
  readonly id?: string;
  readonly title: string;
  readonly models: readonly string[];
  readonly messages: readonly AppendedMessage[];
  readonly files?: readonly unknown[];
  readonly params?: Readonly<Record<string, unknown>>;
  readonly folderId?: string | undefined;
  readonly variables?: Readonly<Record<string, unknown>> | undefined;
  readonly meta?: Readonly<Record<string, unknown>>;
}

/** Messages that are put into a chat. */
export interface LinkedMessages {
  readonly messages: readonly AppendedMessage[];
  readonly shown: string;
  /** The chat's models from now on; left out, they stay. */
  readonly models?: readonly string[] | undefined;
  /** Entries that come to the chat's own list of files; those that are there are not added again. */
  readonly addedFiles?: readonly unknown[] | undefined;
}

/** Chats that their owner has read, in an open window or by marking them. */
export interface ReadChats {
  readonly userId: string;
  readonly chatIds: readonly string[];
}

export const chatsRead = defineEvent<ReadChats>("chats:read");

/** Stored chats for other plugins. Everything but `require` trusts that the caller was authorised. */
export interface Chats {
  /** The chat for its owner. Throws `not_found` for everybody else, administrators too (contract D.16). */
  require(owner: Principal, chatId: string): Promise<ChatFacts>;
  /**
   * Messages from the root to `leafId`, or the last `limit` of them; with `sinceSummary` from the last one before the
   * leaf that holds a summary of what came before. Empty when there is no such message.
   */
  branch(
    chatId: string,
    leafId: string,
    wish?: { readonly limit?: number; readonly sinceSummary?: boolean },
  ): Promise<ChatMessage[]>;
  /** The files of the questions from the root to `leafId`, first to last, whatever summaries stand between. */
  branchFiles(chatId: string, leafId: string): Promise<unknown[]>;
  /** Stores a new chat; its last message is shown. Throws `not_found` for a folder that is not the owner's to fill. */
  create(owner: Principal, chat: CreatedChat): Promise<ChatFacts>;
  /** Those of `ids` that the chat has. Throws `not_found` when one of them is a message of another chat. */
  places(chatId: string, ids: readonly string[]): Promise<Map<string, MessagePlace>>;
  /**
   * Adds and links messages in one change, the others stay; `shown` becomes the end of the shown branch. Throws
   * `invalid` for what is no tree of messages any more.
   */
  link(owner: Principal, chatId: string, change: LinkedMessages): Promise<void>;
  /** Changes keys of stored messages, such as what outlet filters made of them. Messages that are gone stay gone. */
  rewrite(
    owner: Principal,
    chatId: string,
    messages: readonly (Readonly<Record<string, unknown>> & { readonly id: string })[],
  ): Promise<void>;
  /** One message in wire form; undefined when it is gone. `seq` is the number of the last event it includes. */
  message(chatId: string, messageId: string): Promise<{ message: ChatMessage; seq: number } | undefined>;
  /**
   * Appends messages and shows the last one, in one statement. Throws `conflict` when an id is taken or a parent is
   * gone, `not_found` when the chat is.
   */
  append(chatId: string, messages: readonly AppendedMessage[]): Promise<void>;
  /** Gives a chat a title that nobody chose; false when somebody did, or the chat is gone. */
  retitle(owner: Principal, chatId: string, title: string): Promise<boolean>;
  /**
   * Changes the checklist of a chat, one change after another; resolves to what it is then. Throws `not_found` for a
   * chat that is not the owner's.
   */
  changeTasks<T>(
    owner: Principal,
    chatId: string,
    change: (tasks: unknown) => readonly T[],
  ): Promise<readonly T[]>;
  /** Deletes a chat with all that belongs to it; one that is gone, or not the owner's, is passed over. */
  discard(owner: Principal, chatId: string): Promise<void>;
  /** Adds tags to those a chat has; names that no tag can have are left out. */
  tag(owner: Principal, chatId: string, names: readonly string[]): Promise<void>;
}

export const chats = defineService<Chats>("chats");

export const replies = defineService<Replies>("chats.replies");

/** One message of a branch, as far as its size in a model's context goes. */
export interface ContextStep {
  readonly role: string;
  /** Characters of what it says, calls of tools and their results included. */
  readonly chars: number;
  /** As the upstream told it. */
  readonly usage: unknown;
  /** `contextTokens` of the message: what the context took up to here after it was compacted. */
  readonly contextTokens: unknown;
  /** Characters of the summary of everything up to here. */
  readonly summaryChars: number | null;
}

/** How much of a model's context a chat takes, told without reading what was said. */
export interface ChatContext {
  /** True while a run writes into the chat. */
  isRunning(chatId: string): Promise<boolean>;
  /** From the leaf towards the root, up to the first message that tells how large the context is there. */
  contextSteps(chatId: string, leafId: string): Promise<ContextStep[]>;
  /**
   * Stores what was said up to a message as its `contextSummary`, and the size of what is left at the leaf. Resolves to
   * false when the message is gone.
   */
  keepSummary(
    chatId: string,
    kept: {
      readonly messageId: string;
      readonly summary: string;
      readonly leafId: string;
      readonly tokens: number;
    },
  ): Promise<boolean>;
}

export const chatContext = defineService<ChatContext>("chats.context");

/** A folder as chats know it: only chats of its owner lie in it. */
export interface ChatFolder {
  readonly id: string;
  readonly user_id: string;
}

/** Knows the folders that chats lie in; filled by the plugin that stores folders. */
export interface ChatFolders {
  /** False while folders are switched off, or not permitted to this caller. */
  isOpen(principal: Principal): boolean;
  /** The folder, when the caller may read it. */
  find(principal: Principal, folderId: string): Promise<ChatFolder | undefined>;
  /** The caller's own folders that a search means: those with this id or name, and all that lie inside. */
  named(principal: Principal, text: string): Promise<string[]>;
}

/** Without a filling there is no folder: naming one is answered like naming an unknown one. */
export const chatFolders = defineSlot<ChatFolders>("chats.folders");

/** A chat as lists show it. */
export interface ListedChat {
  readonly id: string;
  readonly title: string;
  readonly updated_at: number;
  readonly created_at: number;
  readonly last_read_at: number | null;
  /** A run is writing into it. */
  readonly active: boolean;
}

/** A transaction of whoever calls, whatever tables it knows. */
export type AnyTransaction = Parameters<Grants["forget"]>[0];

/** The chats in folders, for the plugin that stores folders; it has authorised the caller. */
export interface FolderChats {
  /** Newest first, archived ones left out; a page of 60, or all of them. */
  titles(folder: ChatFolder, page?: number): Promise<ListedChat[]>;
  /** How many chats of these folders hold something unread; folders with none are left out. */
  unread(folderIds: readonly string[]): Promise<Map<string, number>>;
  markRead(folderIds: readonly string[]): Promise<void>;
  /**
   * Deletes what lies in folders, in the transaction that deletes these. Call what it resolves to after the commit:
   * it announces the deletions.
   */
  remove(tx: AnyTransaction, folderIds: readonly string[]): Promise<(by: Principal) => void>;
}

export const folderChats = defineService<FolderChats>("chats.in-folders");

/** Says how full a chat's context is; filled by the plugin that compacts chats. */
export interface ContextMeter {
  /** Null while compaction is switched off. */
  usage(caller: Principal, chat: ChatFacts): Promise<{ tokens: number; threshold: number } | null>;
}

export const contextMeter = defineSlot<ContextMeter>("chats.context-meter");

/** Names of persisted variables that stand in the form of settings of chats; this plugin has none of its own there. */
export const chatSettings = defineSlot<readonly string[]>("chats.settings");
