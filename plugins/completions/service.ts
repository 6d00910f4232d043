import type { Principal } from "#kernel/access/principal.ts";
import type { CallContext, ChunkBatch, ModelProvider, ProviderModel } from "#kernel/completion/provider.ts";
import type { Completion } from "#kernel/completion/chunk.ts";
import type { ExactNumbers } from "#kernel/completion/exact-numbers.ts";
import type { CompletionRequest, EmbeddingsRequest, Message } from "#kernel/completion/request.ts";
import type { Upstream } from "#kernel/http/route.ts";
import type { Conversation } from "#kernel/pipeline/filter.ts";
import { defineService, defineSlot } from "#kernel/service.ts";
import type { ToolOutput } from "#kernel/tools/output.ts";
import type { Tool, ToolProblem } from "#kernel/tools/tool.ts";
import type { ResolvedModel } from "#plugins/models/service.ts";
import type { ChatAccess } from "./request/chat-access.ts";
import type { Source } from "./request/sources.ts";

export { TextDeltaReader, TextDeltaWriter } from "./reply/text-delta.ts";
export { type CallPlace, toMetadata } from "./request/metadata.ts";
export { createSchemaCheck, type SchemaCheck } from "./request/schema-check.ts";
export { type AnswerHead, createHead, fromCompletion, toChunks, toCompletion } from "./reply/pipe-output.ts";
export { type ChatAccess, type ChatFacts, isTemporary, requireChat } from "./request/chat-access.ts";
export { injectSources } from "./context/inject.ts";
export type { Source } from "./request/sources.ts";

/** What a run gives back: a whole completion, or a stream that is read once. */
export type RunAnswer = Delivered & {
  /** Fields of the request that nothing here serves, such as `features.<name>` (contract D.37). */
  readonly ignored: readonly string[];
};

type Delivered =
  | { readonly kind: "whole"; readonly completion: Completion; readonly text: string | undefined }
  | { readonly kind: "chunks"; chunks(): AsyncIterable<ChunkBatch> }
  /**
   * Nothing looks into the stream: the upstream's bytes go out as they are. Where outlet filters want the reply, `tap`
   * gets every piece and `settle` is called after the last. Who wants chunks all the same reads `chunks` instead, and
   * nothing else.
   */
  | {
      readonly kind: "raw";
      chunks(): AsyncIterable<ChunkBatch>;
      readonly upstream: Upstream;
      readonly tap?: (piece: Buffer) => void;
      readonly settle?: (error?: Error) => void;
    };

export interface RunContext {
  readonly principal: Principal;
  readonly signal: AbortSignal;
  readonly userAgent?: string | undefined;
  /** The one of the provider's backends that is to answer. */
  readonly backend?: number | undefined;
  /** What the request's model has been resolved to for this caller already: an arena is not to be drawn twice. */
  readonly model?: ResolvedModel | undefined;
  /** Saved parameters that are not to be filled in, because the request says that they do not hold. */
  readonly leftOut?: readonly string[] | undefined;
  /** Told what the model is going to be asked, as filters and tools left it. */
  readonly onAsked?: ((request: CompletionRequest) => void) | undefined;
  /** The JSON text that the request was read from, where there is one. */
  readonly text?: string | undefined;
  /** Numbers that go out digit for digit, where the request was translated from another format. */
  readonly numbers?: ExactNumbers | undefined;
  readonly onOutlet?: OutletListener | undefined;
}

/** Told what outlet filters made of the conversation, after the answer; not called where none looks at it. */
export interface OutletListener {
  /** Asked before the filters run: where it is false, what the last of them makes may be missing. */
  isHeard(): boolean;
  tell(conversation: Conversation): void;
}

/** Who a run works for and where it belongs. */
export interface RunPlace {
  readonly principal: Principal;
  readonly signal: AbortSignal;
  readonly userAgent?: string | undefined;
  readonly folderId?: string | undefined;
  /** True where the request names the folder, not the stored chat. */
  readonly isFolderNamed?: boolean;
  /** Numbers of the request that go out digit for digit. */
  readonly numbers?: ExactNumbers | undefined;
  readonly userMessageId?: string | undefined;
  readonly userMessageParentId?: string | undefined;
  /** An agent brings all tools and instructions itself: none of the platform's join them (contract §12). */
  readonly agent?: { readonly instructions: string; readonly tools: readonly Tool[] } | undefined;
  /** Shows a status entry in the reply, where people see one (contract §3.4). */
  onStatus?(status: Readonly<Record<string, unknown>>): void;
}

/** A run past its inlet filters, for whoever makes several model calls of it. */
export interface OpenRun {
  readonly model: ResolvedModel;
  /** What the model is asked, as preparation, inlet filters and tools left it. */
  readonly request: CompletionRequest;
  /** Those that the run executes itself. */
  readonly tools: readonly Tool[];
  /** What a task model's choice of tools (legacy mode) and sources of context found. */
  readonly sources: readonly Source[] | undefined;
  /** What those tools gave besides text. */
  readonly shown: readonly ToolOutput[];
  /** Fields of the request that nothing here serves, such as `features.<name>` (contract D.37). */
  readonly ignored: readonly string[];
  /** Tools that were asked for and are not offered. */
  readonly problems: readonly ToolProblem[];
  /** One model call with these messages; its chunks have passed the stream filters. Throws like every model call. */
  call(messages: readonly Message[]): Promise<AsyncIterable<ChunkBatch>>;
  /** The conversation as outlet filters leave it; undefined, and nothing is gathered, when none looks at it. */
  outlet(gather: () => Promise<Conversation>): Promise<Conversation | undefined>;
  /** Called once, when the last call is over. */
  close(): Promise<void>;
}

/** A run whose model is known and allowed. */
export interface AdmittedRun {
  readonly model: ResolvedModel;
  /** Prepares the request and takes it through the inlet filters and tools; throws what they throw. */
  open(request: CompletionRequest, place: RunPlace): Promise<OpenRun>;
}

/** Runs chat completions in-process: no plugin calls the platform over HTTP. */
export interface Completions {
  run(request: CompletionRequest, context: RunContext): Promise<RunAnswer>;
  /**
   * The first stages, for runs that are delivered elsewhere than to their caller. Throws `not_found` for models,
   * `unavailable` for terminals, `invalid` for picks of controls; nothing is written or asked yet.
   */
  admit(request: CompletionRequest, context: Pick<RunContext, "principal" | "model">): Promise<AdmittedRun>;
}

export const completions = defineService<Completions>("completions");

/** Takes over completions that belong to chats; filled by the plugin that runs them. */
export interface ChatRuns {
  /** What the caller gets: at once with a session, else when the run has ended (Core API, chat completion rule 1). */
  start(request: CompletionRequest, context: Omit<RunContext, "signal" | "onOutlet">): Promise<unknown>;
}

export const chatRuns = defineSlot<ChatRuns>("completions.chat-runs");

/** Says whether a run may use files that its request names; filled by the plugin that knows files. */
export interface FileAccess {
  /** Throws `not_found` for a file that is unknown or that the caller may not read. */
  require(principal: Principal, fileId: string): Promise<void>;
}

export const fileAccess = defineSlot<FileAccess>("completions.files");

/** Says whether a run may use a terminal; filled by the plugin that knows terminal servers. */
export interface TerminalAccess {
  /**
   * Throws `unavailable` for a terminal that is unknown, foreign, switched off or not for this chat (undefined for a
   * run without one). Core API, chat completion rule 13.
   */
  require(principal: Principal, terminalId: string, chatId: string | undefined): Promise<void>;
  /**
   * Throws `unavailable` for a terminal that is unknown, foreign, switched off, or not for automations. The server is
   * not asked. Core API, `contexts.automation`.
   */
  requireForAutomation(principal: Principal, terminalId: string): void;
  /** Makes a directory the one that commands of a chat's run start in. Throws `unavailable` where that cannot be. */
  enter(
    principal: Principal,
    terminalId: string,
    place: { readonly chatId: string; readonly directory: string },
  ): Promise<void>;
}

/** Puts pictures that are files of this platform into messages: an upstream cannot fetch them (contract §3.2, step 4). */
export interface MessagePictures {
  /** Those that the caller may not read, or that are gone, are left out. */
  inline(messages: readonly Message[], principal: Principal): Promise<readonly Message[]>;
}

export const messagePictures = defineSlot<MessagePictures>("completions.pictures");

export const terminalAccess = defineSlot<TerminalAccess>("completions.terminals");

/** Names of persisted variables that stand in the form of task settings besides those of this plugin (appendix A3). */
export const taskSettings = defineSlot<readonly string[]>("completions.task-settings");

/** A piece of work beside a chat. */
export interface Task {
  /** What it is, as header templates name it, e.g. `title_generation`. */
  readonly name: string;
  /** The model of the chat, whose filters hold for its tasks. */
  readonly model: ResolvedModel;
  /** Asked whatever task model is set. */
  readonly asked?: ResolvedModel | undefined;
  /** Filters that the caller switched on for the chat. */
  readonly filterIds?: readonly string[] | undefined;
  readonly messages: readonly Message[];
  /** Most tokens of the answer where the task model's own parameters set none. */
  readonly maxTokens?: number;
  readonly principal: Principal;
  readonly chatId: string | undefined;
  readonly messageId: string | undefined;
  readonly signal: AbortSignal;
}

/** Asks models for work that people do not read. */
export interface TaskModel {
  /** The answer's text, or its reasoning when there is no text. Throws like every model call. */
  ask(task: Task): Promise<string>;
}

export const taskModel = defineService<TaskModel>("completions.task-model");

/** What a run is about, for whoever adds to its system prompt. */
export interface PromptRun {
  readonly principal: Principal;
  readonly model: ResolvedModel;
  /** The stored chat that the run belongs to. */
  readonly chatId: string | undefined;
  /** The folder of that chat, or the one that the request names. */
  readonly folderId: string | undefined;
  /** True where the request names the folder: one that the caller may not read is then refused, not passed over. */
  readonly isFolderNamed: boolean;
  /** The terminal that the request names, in a reply that runs its tools. */
  readonly terminalId?: string | undefined;
}

/** Adds to the system prompt of runs, after the model's own: the folder's prompt, for example (contract §3.2, step 4). */
export interface PromptSource {
  prompt(run: PromptRun): Promise<string | undefined>;
}

export const promptSources = defineSlot<PromptSource>("completions.prompts");

/** What a run is about, for whoever gathers what its model is told with the question. */
export interface ContextRun extends PromptRun {
  /** As inlet filters left it. */
  readonly request: CompletionRequest;
  /** Native runs are offered tools over folders' and models' knowledge; the others are given passages (contract §3.2, step 5). */
  readonly mode: "native" | "legacy";
  readonly signal: AbortSignal;
  /** Shows a status entry in the reply, where people see one (contract §3.4). */
  onStatus(status: Readonly<Record<string, unknown>>): void;
}

/** What was gathered. */
export interface GatheredContext {
  readonly sources: readonly Source[];
  /** Joins the end of the system prompt, as it stands. */
  readonly instructions?: string | undefined;
  /** Features of the request that this served (contract D.37). */
  readonly features?: readonly string[];
  /** A sentence for the person about each thing that was asked for and could not be had. */
  readonly problems?: readonly string[];
  /** Files that were made and stand with the reply, where people see one. */
  readonly shown?: readonly ToolOutput[];
}

/** Gathers passages of files, collections and pages for a run (contract §3.2, steps 7 and 11). Throws only what ends the run. */
export interface ContextSource {
  readonly id: string;
  /** False where it has nothing to add: the run then pays nothing. */
  isNeeded(run: Pick<ContextRun, "request" | "model" | "folderId" | "mode">): boolean;
  gather(run: ContextRun): Promise<GatheredContext>;
}

export const contextSources = defineSlot<ContextSource>("completions.context");

/** Says whether a run may use items of `files` of a type, such as `collection`; filled by the plugin that knows them. */
export interface ContextItems {
  /** Values of `type` that it knows. */
  readonly types: readonly string[];
  /** The field without which an item names nothing to read; undefined for one that names something. */
  missing?(item: Readonly<Record<string, unknown>>): string | undefined;
  /** Throws `not_found` for items that are unknown or that the caller may not read. */
  require(principal: Principal, items: readonly Readonly<Record<string, unknown>>[]): Promise<void>;
}

export const contextItems = defineSlot<ContextItems>("completions.context-items");

/** What a request says about a model of a connection that the caller's own client keeps (`model_item`, contract §3.1). */
export interface DirectModel {
  /** As the request names it. */
  readonly id: string;
  readonly item: Readonly<Record<string, unknown>>;
  /** The open client that is to ask it. */
  readonly sessionId: string | undefined;
}

/** Asks such models; filled by the plugin that knows how. */
export interface DirectModels {
  /** Throws `forbidden` while members may have no connections of their own, and `invalid` without a session. */
  open(model: DirectModel): { readonly model: ProviderModel; readonly provider: ModelProvider };
}

export const directModels = defineSlot<DirectModels>("completions.direct-models");

/** Embeds with models that stand in no list because they do not chat. */
export interface UnlistedEmbedder {
  /** Undefined for models that it does not know or the caller may not use. */
  embed(request: EmbeddingsRequest, context: CallContext): Promise<Upstream> | undefined;
}

export const unlistedEmbedders = defineSlot<UnlistedEmbedder>("completions.unlisted-embedders");

export const chatAccess = defineSlot<ChatAccess>("completions.chats");
