import { defineEvent } from "#kernel/events.ts";
import { beginStage, endStage, type Work } from "#kernel/work.ts";
import { estimateTokens, lengthOfTexts, noTokens, type Tokens, toTokens } from "./tokens.ts";
import type { Usage } from "./chunk.ts";

/** The format in which a model was asked. */
export type Wire = "chat" | "responses" | "messages" | "embeddings" | "generate";

/** Who asked which model, and where. */
export interface ModelCallFacts {
  readonly userId: string;
  /** As the caller named it. */
  readonly modelId: string;
  /** The provider's model that answered. */
  readonly baseModelId: string;
  /** Id of the provider. */
  readonly provider: string;
  /** Which of the provider's connections, where it has several. */
  readonly connection: string | undefined;
  readonly wire: Wire;
  /** What the answer was for, when nobody reads it: `title_generation`, for example. */
  readonly task: string | undefined;
  readonly chatId: string | undefined;
  readonly messageId: string | undefined;
}

/** One call of a model, over. */
export interface ModelCall extends ModelCallFacts {
  /** Epoch milliseconds. */
  readonly startedAt: number;
  readonly durationMs: number;
  /** Null for an answer that came as a whole, or not at all. */
  readonly firstTokenMs: number | null;
  readonly outcome: "completed" | "failed" | "aborted";
  readonly tokens: Tokens;
  /** The upstream did not say what it cost: characters were counted instead. */
  readonly isEstimated: boolean;
  /** Names of the tools that the model called, one entry a call. */
  readonly tools: readonly string[];
  /** The error that broke the call off; left out where the answer itself says that it failed. */
  readonly failure?: unknown;
}

/** Announced once for every model call of every wire, those that failed or were given up included. */
export const modelCallEnded = defineEvent<ModelCall>("model-call:ended");

/** What is known of an answer when it is over. */
export interface Measured {
  readonly usage: Usage | undefined;
  /** Characters of the answer, for want of usage. */
  readonly characters: number;
  readonly tools: readonly string[];
}

export interface OpeningCall {
  readonly facts: ModelCallFacts;
  /** What the model is asked, as it is or as JSON text; looked at only when the upstream reports no usage. */
  readonly asked: unknown;
  readonly signal: AbortSignal | undefined;
  ended(call: ModelCall): void;
}

/** A model call that is under way: two timestamps and one announcement. */
export class OpenCall {
  readonly #call: OpeningCall;
  readonly #startedAt = Date.now();
  readonly #start = performance.now();
  #firstAt = 0;
  #isOver = false;
  #stage: Work | undefined;

  constructor(call: OpeningCall) {
    this.#call = call;
    const { modelId, provider, wire } = call.facts;
    this.#stage = beginStage("provider", { facts: { model: modelId, provider, wire } });
  }

  get wire(): Wire {
    return this.#call.facts.wire;
  }

  get signal(): AbortSignal | undefined {
    return this.#call.signal;
  }

  /** A piece of the answer came; the first one counts. */
  arrived(): void {
    if (this.#firstAt === 0) {
      this.#firstAt = performance.now();
      if (this.#stage) {
        endStage(this.#stage);
        this.#stage = beginStage("stream", { after: this.#stage, facts: this.#stage.facts });
      }
    }
  }

  /** The answer is complete. */
  complete(measured: Measured): void {
    this.#end("completed", measured);
  }

  /** The answer broke off, or there was none; whoever asked may have left. */
  break(error: unknown, measured?: Measured): void {
    this.#end(isLeft(error, this.signal) ? "aborted" : "failed", measured, error);
  }

  /** The answer itself says that it failed. */
  fail(measured: Measured): void {
    this.#end("failed", measured);
  }

  /** Whoever asked gave the answer up. */
  leave(measured: Measured): void {
    this.#end("aborted", measured);
  }

  #end(outcome: ModelCall["outcome"], measured: Measured | undefined, failure?: unknown): void {
    if (this.#isOver) {
      return;
    }
    this.#isOver = true;
    const { facts, ended } = this.#call;
    endStage(
      this.#stage,
      outcome === "failed" ? (failure ?? new Error("The answer says that it failed.")) : undefined,
    );
    const now = performance.now();
    ended({
      ...facts,
      startedAt: this.#startedAt,
      durationMs: Math.round(now - this.#start),
      firstTokenMs: this.#firstAt === 0 ? null : Math.round(this.#firstAt - this.#start),
      outcome,
      tokens: this.#count(measured),
      isEstimated: measured !== undefined && measured.usage === undefined,
      tools: measured?.tools ?? [],
      ...(failure !== undefined && { failure }),
    });
  }

  /** A call that was refused cost nothing. */
  #count(measured: Measured | undefined): Tokens {
    if (measured === undefined) {
      return noTokens;
    }
    if (measured.usage) {
      return toTokens(measured.usage);
    }
    const input = estimateTokens(lengthOfTexts(parsed(this.#call.asked)));
    return { ...noTokens, input, output: estimateTokens(measured.characters) };
  }
}

function parsed(asked: unknown): unknown {
  try {
    return typeof asked === "string" ? JSON.parse(asked) : asked;
  } catch {
    return asked;
  }
}

/** A time limit aborts like a caller that leaves, but it is a failure. */
function isLeft(error: unknown, signal: AbortSignal | undefined): boolean {
  if (signal?.aborted !== true) {
    return false;
  }
  return (
    (signal.reason as Error | undefined)?.name !== "TimeoutError" && (error as Error)?.name !== "TimeoutError"
  );
}
