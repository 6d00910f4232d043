import type { Principal } from "#kernel/access/principal.ts";
import type { Chunk } from "#kernel/completion/chunk.ts";
import type { ChunkBatch } from "#kernel/completion/provider.ts";
import type { CompletionRequest } from "#kernel/completion/request.ts";

/** One message of a finished conversation, as outlet filters see it. */
export interface ConversationMessage {
  id: string;
  role: string;
  content: unknown;
  [key: string]: unknown;
}

/** The argument of outlet hooks: the conversation with the reply as its last message. */
export interface Conversation {
  model: string;
  messages: ConversationMessage[];
  chat_id?: string | undefined;
  session_id?: string | undefined;
  id?: string | undefined;
  filter_ids?: string[] | undefined;
  [key: string]: unknown;
}

/** Frozen facts of the run, the same for all its hooks. */
export interface FilterContext {
  readonly principal: Principal;
  /** The model's id as the caller named it. */
  readonly modelId: string;
  /** The workspace record's or provider item's `meta` object. */
  readonly modelMeta: Readonly<Record<string, unknown>>;
  readonly chatId: string | undefined;
  readonly messageId: string | undefined;
  readonly sessionId: string | undefined;
  /** Free-form notes that inlet left for stream and outlet. */
  readonly metadata: Readonly<Record<string, unknown>>;
  /** The request: in inlet as it came to the first filter, in stream and outlet as the last inlet left it. */
  readonly request: CompletionRequest;
  readonly signal: AbortSignal;
  /** The background task that the request is for, such as `title_generation`; absent for people's own requests. */
  readonly task?: string | undefined;
}

/** Tells whether a hook's answer is used. */
export interface Reading {
  /** False when the answer is dropped: the hook is called for its side effects. */
  readonly isRead: boolean;
}

/**
 * One filter of the pipeline. A hook that is left out costs nothing; a hook that returns undefined keeps the
 * value it got. An error in inlet ends the request with its message; in stream and outlet it is logged and the
 * last good value kept.
 */
export interface Filter {
  readonly id: string;
  readonly name: string;
  /** Ascending; ties by id. */
  readonly priority: number;
  /** Its inlet and outlet take part in background tasks, too: titles, tags, summaries. */
  readonly tasks?: boolean;
  /** Names of what it stands for, such as the filters of remote servers, in order; for people. */
  readonly members?: readonly string[];
  /** The hooks never change what they get, so that inlet and outlet need no copy of it. */
  readonly isPure?: boolean;
  /** Gets a copy of the request and returns the one to use. */
  inlet?(
    request: CompletionRequest,
    context: FilterContext,
  ): CompletionRequest | undefined | Promise<CompletionRequest | undefined>;
  /** Runs synchronously on every chunk; null drops the chunk. */
  stream?(chunk: Chunk, context: FilterContext): Chunk | null | undefined;
  /** In place of `stream`, for a hook that runs elsewhere: neighbours of one group share one crossing a batch. */
  readonly streamGroup?: StreamGroup;
  /** Gets a copy of the finished conversation and returns the one to store. */
  outlet?(
    conversation: Conversation,
    context: FilterContext,
    reading: Reading,
  ): Conversation | undefined | Promise<Conversation | undefined>;
}

/** Runs the stream hooks of several filters at once, such as those that live in one isolate. */
export interface StreamGroup {
  /** Opens the hooks of `filters`, in order, for one run. What fails later is the group's to log and to leave out. */
  open(filters: readonly Filter[], context: FilterContext): StreamHooks | Promise<StreamHooks>;
}

/** Opened stream hooks of one run. */
export interface StreamHooks {
  /** Takes a batch through all hooks; what they dropped is missing in the answer. Never throws or rejects. */
  push(batch: ChunkBatch): ChunkBatch | Promise<ChunkBatch>;
  /** Called once, when the run ends. */
  close(): void;
}

/** Which filters a run wants: for what changes at run time (user functions, remote pipelines). */
export interface FilterSelection {
  readonly principal: Principal;
  readonly modelId: string;
  /** Every id of the model: as the caller named it, of a record chosen for it, and of the provider's model behind. */
  readonly modelIds: readonly string[];
  readonly modelMeta: Readonly<Record<string, unknown>>;
  /** `filter_ids` of the request. */
  readonly filterIds: readonly string[];
  /** Set for a background task: of what is given only filters that look at tasks are taken. */
  readonly task?: string | undefined;
}

export interface FilterSource {
  readonly id: string;
  select(selection: FilterSelection): readonly Filter[] | Promise<readonly Filter[]>;
}

/** Declares a native filter that runs for every model. */
export function defineFilter(filter: Filter): Filter {
  return filter;
}

/** Tells a source from a filter. */
export function isFilterSource(entry: Filter | FilterSource): entry is FilterSource {
  return "select" in entry;
}

/** A filter or source with the switch of the plugin it belongs to. */
export interface OwnedFilter {
  readonly entry: Filter | FilterSource;
  isEnabled(): boolean;
}
