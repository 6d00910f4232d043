import type { Principal } from "#kernel/access/principal.ts";
import { defineSlot } from "#kernel/service.ts";

/** Where a call of a function belongs, as far as it is known. */
export interface UserEventPlace {
  readonly chatId: string | undefined;
  readonly messageId: string | undefined;
}

/** One event for a person's open clients: `{chat_id, message_id, data: {type, data}}` (contract 3.4). */
export interface UserEvent {
  readonly chat_id: string | null;
  readonly message_id: string | null;
  readonly data: { readonly type: string; readonly data: unknown };
}

/**
 * Sends events of functions to the people they run for; filled by the plugin that holds their sockets. While it is
 * empty, events are lost and questions fail.
 */
export interface UserEvents {
  /** Sends to the open clients of this person only. */
  emit(principal: Principal, event: UserEvent): void;
  /**
   * Asks one client and resolves with its answer. Rejects with an AppError when `sessionId` is no open client of this
   * person, when no answer comes in time, or when `signal` aborts.
   */
  ask(principal: Principal, sessionId: string, question: UserEvent, signal?: AbortSignal): Promise<unknown>;
}

export const userEvents = defineSlot<UserEvents>("functions.user-events");
