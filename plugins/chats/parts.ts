import type { Access, Loader } from "#kernel/access/resource.ts";
import type { Principal } from "#kernel/access/principal.ts";
import type { ByteLimit, ConcurrencyLimit } from "#kernel/account-limits.ts";
import type { FairQueue } from "#kernel/fair-queue.ts";
import type { Actor, Events } from "#kernel/events.ts";
import type { Slot } from "#kernel/service.ts";
import type { Grants } from "#storage/grants.ts";
import type { Accounts } from "#plugins/accounts/service.ts";
import type { Files } from "#plugins/files/service.ts";
import type { ChatRow } from "./chat-store.ts";
import type { ChatFolders, ContextMeter } from "./service.ts";
import type { ShareRow } from "./sharing/share-store.ts";
import type { ChatDatabase, Transact } from "./tables.ts";

/** The kind of row that grants name; its ids are those of the chats. */
export const sharedType = "shared_chat";

/** What the logic of chats is made of. */
export interface ChatParts {
  readonly db: ChatDatabase;
  readonly transaction: Transact;
  readonly access: Access;
  readonly accounts: Accounts;
  readonly events: Events;
  readonly files: Files;
  readonly grants: Grants;
  readonly folders: Slot<ChatFolders>;
  readonly contextMeter: Slot<ContextMeter>;
  /** For owners; for administrators to read where ENABLE_ADMIN_CHAT_ACCESS is on. */
  readonly chats: Loader<ChatRow>;
  /** Shares that others may read, by the id of the chat. */
  readonly shares: Loader<ShareRow>;
  readonly limits: {
    /** LIMIT_CONCURRENT_IMPORTS. */
    readonly imports: ConcurrencyLimit;
    /** Imports of all people take turns: each reads and writes for seconds. */
    readonly importTurns: FairQueue;
    /** LIMIT_COPY_BYTES_PER_MINUTE. */
    readonly copyBytes: ByteLimit;
  };
  /** ENABLE_ADMIN_CHAT_ACCESS. */
  adminsRead(): boolean;
  /** ENABLE_ADMIN_EXPORT. */
  adminsExport(): boolean;
}

/** System events of chats and their messages (appendix A10). */
export type ChatEvent =
  | `chat.${"created" | "updated" | "deleted" | "deleted_all" | "cloned" | "imported"}`
  | `chat.${"archived" | "unarchived" | "pinned" | "unpinned" | "shared" | "unshared"}`
  | `chat.${"folder_updated" | "tag_added" | "tag_removed"}`
  | `message.${"created" | "updated" | "deleted" | "event_received"}`;

export interface ChatEventDetails {
  readonly by: Principal;
  /** The chat; left out where it concerns many. */
  readonly id?: string;
  readonly data?: Record<string, unknown>;
}

/** Messages of one change that are announced singly; more are the transfer of a whole chat. */
const mostAnnounced = 100;

/** Tells the process of messages that a chat has got (appendix A10), each with its role. */
export function announceMessages(
  events: Events,
  actor: Actor,
  { id, messages }: { id: string; messages: readonly { readonly id: string; readonly role: string }[] },
): void {
  if (messages.length <= mostAnnounced) {
    for (const { id: messageId, role } of messages) {
      events.announce("message.created", {
        actor,
        subject: { type: "chat", id },
        data: { message_id: messageId, role },
      });
    }
  }
}

/** Tells the process what became of a chat, or of many. */
export function announce(events: Events, event: ChatEvent, { by, id, data }: ChatEventDetails): void {
  events.announce(event, {
    actor: toActor(by),
    subject: id === undefined ? null : { type: "chat", id },
    data: data ?? null,
  });
}

export const toActor = ({ userId, name, email, role }: Principal): Actor => ({
  id: userId,
  name,
  email,
  role,
});
