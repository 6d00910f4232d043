import type { Principal } from "#kernel/access/principal.ts";
import type { ChunkBatch } from "#kernel/completion/provider.ts";
import type { Completion, Usage } from "#kernel/completion/chunk.ts";
import type { CompletionRequest } from "#kernel/completion/request.ts";
import type { Upstream } from "#kernel/http/route.ts";
import { defineEvent } from "#kernel/events.ts";
import { defineService, defineSlot } from "#kernel/service.ts";

/** What a run gives back: a whole completion, or a stream that is read once. */
export type RunAnswer =
  | { readonly kind: "whole"; readonly completion: Completion; readonly text: string | undefined }
  | { readonly kind: "chunks"; chunks(): AsyncIterable<ChunkBatch> }
  /** Nothing looks into the stream: the upstream's bytes go out as they are; `settle` books what `tap` saw. */
  | {
      readonly kind: "raw";
      readonly upstream: Upstream;
      tap(piece: Buffer): void;
      settle(error?: Error): void;
    };

export interface RunContext {
  readonly principal: Principal;
  readonly signal: AbortSignal;
  readonly userAgent?: string | undefined;
  /** The JSON text that the request was read from, where there is one. */
  readonly text?: string | undefined;
}

/** Runs chat completions in-process: no plugin calls the platform over HTTP. */
export interface Completions {
  run(request: CompletionRequest, context: RunContext): Promise<RunAnswer>;
}

export const completions = defineService<Completions>("completions");

/** What is announced when a run has ended. */
export interface RunFinished {
  readonly userId: string;
  readonly modelId: string;
  readonly usage: Usage | undefined;
  readonly error: string | undefined;
}

/** Says whether a caller may write into a chat; filled by the plugin that stores chats. */
export interface ChatAccess {
  mayWrite(principal: Principal, chatId: string): Promise<boolean>;
}

export const chatAccess = defineSlot<ChatAccess>("completions.chats");

export const runFinished = defineEvent<RunFinished>("completion:finished");
