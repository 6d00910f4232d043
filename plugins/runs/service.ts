import type { Principal } from "#kernel/access/principal.ts";
import type { CompletionRequest, Message } from "#kernel/completion/request.ts";
import type { ChunkBatch } from "#kernel/completion/provider.ts";
import { defineEvent } from "#kernel/events.ts";
import { defineService, defineSlot } from "#kernel/service.ts";
import type { Tool, ToolRun } from "#kernel/tools/tool.ts";
import type { ChatFacts, ChatMessage } from "#plugins/chats/service.ts";
import type { AdmittedRun } from "#plugins/completions/service.ts";
import type { ResolvedModel } from "#plugins/models/service.ts";
import type { FileEntry } from "./rounds/deliver.ts";

/** A reply that stands elsewhere than in a chat. */
export interface ReplyWriting {
  readonly admitted: AdmittedRun;
  /** Pictures may be files of the platform; `chat_id`, `id` and `session_id` are what tools are told. */
  readonly request: CompletionRequest;
  readonly principal: Principal;
  readonly signal: AbortSignal;
  /** Told of all the text so far, after each batch of chunks and each tool. */
  onText(text: string): void;
}

/** What was written. */
export interface WrittenReply {
  readonly content: string;
  /** For people: what kept the reply from being whole; undefined also where the signal ended it. */
  readonly error: string | undefined;
  /** Files that tools made; they belong to the principal. */
  readonly files: readonly FileEntry[];
}

/** Writes replies with all their rounds of tools for plugins that store them themselves, such as channels. */
export interface ReplyWriter {
  /** Never rejects. */
  write(writing: ReplyWriting): Promise<WrittenReply>;
}

export const replyWriter = defineService<ReplyWriter>("runs.reply-writer");

/** A message of a person in a stored chat, at the moment when its replies have begun. */
export interface AskedMessage {
  readonly userId: string;
  readonly chatId: string;
  readonly messageId: string;
  /** False for a message that stood in the chat before: it was stored by its client, or is answered once more. */
  readonly isNew: boolean;
}

/** Messages that the server puts into chats in a person's place (`meta.internal`) are none. */
export const personAsked = defineEvent<AskedMessage>("runs:person-asked");

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
  /** Aborted when the run is stopped; of one that was stopped, when its server or its account goes. */
  readonly signal: AbortSignal;
  /** Sends an event of this message to the user's sockets (contract §3.4). */
  emit(type: string, data: unknown): void;
}

/** Work that follows a reply: suggestions, titles, tags. The run counts as running until it is done. */
export interface RunFollowUp {
  /** Smaller ones run first, one after another. */
  readonly order: number;
  /** Follow-up work of the chat is done for a reply that was stopped, too; by default it follows from a whole reply. */
  readonly concerns?: "chat" | "reply";
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

/** Runs code that models which call no tools write into their text (contract §3.2, step 7, and §3.5). */
export interface CodeInterpreter {
  /** Key of the request's `features` that switches it on. */
  readonly feature: string;
  /** Undefined where the person, the model or the settings allow none; never throws because of a server that fails. */
  offer(run: ToolRun & { readonly principal: Principal }): Promise<OfferedInterpreter | undefined>;
}

/** What a reply gets to run its code with. */
export interface OfferedInterpreter {
  /** Tells the model how it writes code between `<code_interpreter lang="…">` tags. */
  readonly prompt: string;
  /** Takes `{code}`; the value of its result is an object with the texts `stdout`, `stderr` and `result`. */
  readonly tool: Tool;
  /** The languages it runs, in small letters. */
  readonly languages: readonly string[];
}

export const codeInterpreters = defineSlot<CodeInterpreter>("runs.code-interpreters");

/** An agent that writes the replies of a chat with instructions and tools of its own (contract §12). */
export interface RunAgent {
  /** Follows the model's own system prompt; a system message of the caller comes behind it. */
  readonly instructions: string;
  readonly tools: readonly Tool[];
  /** Most tool-calling turns; stands in place of CHAT_RESPONSE_MAX_TOOL_CALL_ITERATIONS. */
  readonly maxIterations: number;
  /** Told of what the model writes, as stream filters left it. */
  onChunks(batch: ChunkBatch): void;
  /** Told once that nothing is written any more. A failure is logged. */
  ended(outcome: { readonly error: string | undefined; readonly isStopped: boolean }): Promise<void>;
}

/** Knows the chats whose replies an agent writes, whoever asks for the reply. */
export interface AgentSource {
  /** Undefined for other chats. Throws what keeps the agent from its work; the reply then says so. */
  find(run: {
    readonly principal: Principal;
    readonly chat: ChatFacts;
    readonly messageId: string;
    readonly modelId: string;
    readonly signal: AbortSignal;
  }): Promise<RunAgent | undefined>;
}

export const runAgents = defineSlot<AgentSource>("runs.agents");

/** Bounds the replies of chats that a plugin knows. */
export interface RunLimit {
  /** Most tool-calling turns, in place of CHAT_RESPONSE_MAX_TOOL_CALL_ITERATIONS; undefined for other chats. */
  maxIterations(chat: ChatFacts): number | undefined;
}

export const runLimits = defineSlot<RunLimit>("runs.limits");

/** Ends runs, whichever replica works on them. */
export interface RunControl {
  /** Stops everything that is written into a chat of the caller's; throws `not_found` for others. */
  stopChat(caller: Principal, chatId: string): Promise<string[]>;
}

export const runControl = defineService<RunControl>("runs.control");
