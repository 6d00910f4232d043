import type { Principal } from "#kernel/access/principal.ts";
import type { ChatFacts, ChatMessage } from "#plugins/chats/service.ts";
import type { ResolvedModel } from "#plugins/models/service.ts";
import { defineService } from "#kernel/service.ts";

/** A branch that is to be compacted. */
export interface CompactRequest {
  readonly principal: Principal;
  readonly chat: ChatFacts;
  readonly leafId: string;
  /** From the root to the leaf; read when it is left out. */
  readonly branch?: readonly ChatMessage[];
  /** The model of the chat. */
  readonly model: ResolvedModel;
  /** Has `model` write the summary itself, whatever models are set for it. */
  readonly isExact?: boolean;
  /** Filters that the caller switched on for the chat. */
  readonly filterIds?: readonly string[] | undefined;
  readonly signal: AbortSignal;
}

/** A branch after its compaction. */
export interface CompactedBranch {
  readonly summary: string;
  /** The message up to which the summary holds; it carries it as `contextSummary`. */
  readonly messageId: string;
  readonly kept: readonly ChatMessage[];
  /** Tokens of the context now, estimated. */
  readonly tokens: number;
}

/** Puts a summary in place of what is long ago in a chat. */
export interface Compaction {
  /**
   * Summarises the older part of a branch and stores the summary. Resolves to undefined when there is nothing to
   * summarise. Who asks for a branch that is being compacted gets what comes of that. Throws like every model call,
   * `conflict` when another branch of the chat is being compacted or the chat is changed meanwhile, and `upstream` when
   * the model says nothing.
   */
  compact(request: CompactRequest): Promise<CompactedBranch | undefined>;
}

export const compaction = defineService<Compaction>("compaction");
