import type { Principal } from "#kernel/access/principal.ts";
import type { CompletionRequest, Message } from "#kernel/completion/request.ts";
import { defineSlot } from "#kernel/service.ts";
import type { ChatFacts, ChatMessage } from "#plugins/chats/service.ts";
import type { ResolvedModel } from "#plugins/models/service.ts";

/** A chat-bound run whose reply is complete, stored and shown. */
export interface EndedRun {
  readonly principal: Principal;
  /** Id of a stored chat, or `temporary:<uuid>`. */
  readonly chatId: string;
  /** Undefined for a temporary chat: nothing of it is stored. */
  readonly chat: ChatFacts | undefined;
  /** The assistant message that holds the reply. */
  readonly messageId: string;
  readonly userMessageId: string | undefined;
  readonly sessionId: string | undefined;
  readonly model: ResolvedModel;
  /** What the caller asked for, `background_tasks` among it. */
  readonly request: CompletionRequest;
  /** The conversation as the common wire has it, the reply as its last message. */
  readonly conversation: readonly Message[];
  /** False for all but the first of several replies to one message: what concerns the chat is done once. */
  readonly isFirst: boolean;
  /** Aborted when the run is stopped. */
  readonly signal: AbortSignal;
  /** Sends an event of this message to the user's sockets (contract §3.4). */
  emit(type: string, data: unknown): void;
}

/** Work that follows a reply: suggestions, titles, tags. The run counts as running until it is done. */
export interface RunFollowUp {
  /** Smaller ones run first, one after another. */
  readonly order: number;
  /** A failure is logged; it affects neither the reply nor later work. */
  run(ended: EndedRun): Promise<void>;
}

export const runFollowUps = defineSlot<RunFollowUp>("runs.follow-ups");

/** A run that reads its conversation from a stored chat. */
export interface HistoryRun {
  readonly principal: Principal;
  readonly chat: ChatFacts;
  readonly model: ResolvedModel;
  /** The message that is answered. */
  readonly leafId: string;
  /** From the root to the leaf, or from the last summary before it when a step takes summaries. */
  readonly branch: readonly ChatMessage[];
  /** Filters that the caller switched on. */
  readonly filterIds?: readonly string[] | undefined;
  readonly signal: AbortSignal;
  /** Sends an event of the reply to the user's sockets (contract §3.4). */
  emit(type: string, data: unknown): void;
}

/** Changes what a run reads of its chat, such as by putting a summary in place of what is long ago (contract §3.2, step 3). */
export interface HistoryStep {
  /** It puts the last summary in place of what came before: that need not be read. */
  readonly takesSummaries?: boolean;
  /** The messages to use instead; a failure is logged and the branch used as it is. */
  prepare(run: HistoryRun): Promise<readonly ChatMessage[]>;
}

export const historySteps = defineSlot<HistoryStep>("runs.history");
