import type { ChunkChoice, Delta, ToolCallDelta, Usage } from "#kernel/completion/chunk.ts";
import type { ChunkBatch } from "#kernel/completion/provider.ts";
import { Blocks, toFrame } from "./blocks.ts";
import { type ReplyFacts, toSignature } from "./from-completion.ts";
import { toMessageId } from "../ids.ts";
import { toStop } from "./stop-reason.ts";
import { toMessageUsage } from "./usage.ts";

/** Chunks in, events of the vendor's format out. Core API, vendor messages rules 3 and 5; contract D.25. */
export class MessageEvents {
  readonly #facts: ReplyFacts;
  readonly #blocks = new Blocks();
  #finishReason: string | null | undefined;
  #stoppedBy: unknown;
  #usage: Usage | undefined;

  constructor(facts: ReplyFacts) {
    this.#facts = facts;
  }

  /** True once the upstream said how the reply ended: what is missing then is no part of it. */
  get isFinished(): boolean {
    return typeof this.#finishReason === "string" && this.#finishReason !== "";
  }

  /** The first event. `inputTokens` as they were counted up front, where that worked. Rule 6. */
  start(inputTokens: number | undefined): string {
    return toFrame("message_start", {
      message: {
        id: toMessageId(),
        type: "message",
        role: "assistant",
        model: this.#facts.model,
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: { input_tokens: inputTokens ?? 0, output_tokens: 0 },
      },
    });
  }

  /** What can go out of the chunks so far. */
  push(batch: ChunkBatch): string {
    for (const chunk of batch) {
      this.#usage = chunk.usage ?? this.#usage;
      const choice = chunk.choices?.[0];
      if (choice && (choice.index ?? 0) === 0) {
        this.#addChoice(choice);
      }
    }
    return this.#blocks.take();
  }

  /** The last events. Usage comes after the finish, so both are held until here; they go out once. */
  end(): string {
    this.#blocks.end();
    const stop = toStop({
      finishReason: this.#finishReason,
      hasToolCalls: this.#blocks.hasCalls,
      stoppedBy: this.#stoppedBy,
      stops: this.#facts.stops,
    });
    const closing = toFrame("message_delta", { delta: stop, usage: toMessageUsage(this.#usage) });
    return this.#blocks.take() + closing + toFrame("message_stop");
  }

  #addChoice(choice: ChunkChoice): void {
    this.#addDelta(choice.delta ?? {});
    this.#finishReason = choice.finish_reason ?? this.#finishReason;
    this.#stoppedBy = choice["stop_reason"] ?? this.#stoppedBy;
  }

  #addDelta(delta: Delta): void {
    this.#blocks.thought(toText(delta.reasoning_content ?? delta.reasoning));
    const signature = toSignature(delta["reasoning_details"]);
    if (signature !== "") {
      this.#blocks.sign(signature);
    }
    this.#blocks.text(toText(delta.content) + toText(delta.refusal));
    for (const piece of delta.tool_calls ?? []) {
      this.#blocks.call(toPiece(piece));
    }
  }
}

function toPiece({ index, id, function: called }: ToolCallDelta) {
  const given: unknown = called?.arguments;
  // Some upstreams give the object itself.
  const text = typeof given === "object" && given !== null ? JSON.stringify(given) : toText(given);
  return { index, id: toText(id), name: toText(called?.name), text };
}

function toText(value: unknown): string {
  return typeof value === "string" ? value : "";
}
