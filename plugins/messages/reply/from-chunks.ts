import type { ChunkChoice, Delta, ToolCallDelta, Usage } from "#kernel/completion/chunk.ts";
import type { ChunkBatch } from "#kernel/completion/provider.ts";
import { type Piece, TagReader } from "#kernel/completion/reasoning-tags.ts";
import { Blocks, toFrame } from "./blocks.ts";
import { type ReplyFacts, toMessageId, toSignature } from "./from-completion.ts";
import { toStop } from "./stop-reason.ts";
import { toMessageUsage } from "./usage.ts";

/** Chunks in, events of the vendor's format out. Core API, vendor messages rules 3 and 5; contract D.25. */
export class MessageEvents {
  readonly #facts: ReplyFacts;
  readonly #blocks: Blocks;
  readonly #tags: TagReader;
  #finishReason: string | null | undefined;
  #stoppedBy: unknown;
  #usage: Usage | undefined;
  #refusal = "";

  constructor(facts: ReplyFacts) {
    this.#facts = facts;
    this.#blocks = new Blocks(facts.labels);
    this.#tags = new TagReader(facts.tags);
  }

  /** True once the upstream told the finish reason: the content is complete then. */
  get isFinished(): boolean {
    return typeof this.#finishReason === "string" && this.#finishReason !== "";
  }

  /** The first event. `counted` are the prompt's tokens, where counting up front worked. Rule 6. */
  start(counted: number | undefined): string {
    const inputTokens = counted ?? this.#facts.assumedInput;
    return toFrame("message_start", {
      message: {
        id: toMessageId(),
        type: "message",
        role: "assistant",
        model: this.#facts.model,
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: { ...(inputTokens !== undefined && { input_tokens: inputTokens }), output_tokens: 0 },
      },
    });
  }

  /** The frames of a batch that can go out now. */
  push(batch: ChunkBatch): string {
    for (const chunk of batch) {
      this.#usage = chunk.usage ?? this.#usage;
      const choice = chunk.choices?.find(({ index }) => (index ?? 0) === 0);
      if (choice) {
        this.#addChoice(choice);
      }
    }
    return this.#blocks.flush();
  }

  /** The last events. Usage follows the finish reason, so both are kept for one `message_delta`. */
  end(): string {
    this.#addPieces(this.#tags.end());
    this.#blocks.end();
    const stop = toStop({
      finishReason: this.#finishReason,
      hasToolCalls: this.#blocks.hasCalls,
      stoppedBy: this.#stoppedBy,
      stops: this.#facts.stops,
      refusal: this.#refusal,
    });
    const closing = toFrame("message_delta", { delta: stop, usage: toMessageUsage(this.#usage) });
    return this.#blocks.flush() + closing + toFrame("message_stop");
  }

  #addChoice(choice: ChunkChoice): void {
    this.#addDelta(choice.delta ?? {});
    this.#finishReason = choice.finish_reason ?? this.#finishReason;
    this.#stoppedBy = choice["stop_reason"] ?? this.#stoppedBy;
  }

  #addDelta(delta: Delta): void {
    const reasoning = toText(delta.reasoning_content ?? delta.reasoning);
    if (reasoning !== "") {
      this.#endText();
      this.#blocks.addThinking(reasoning);
    }
    const signature = toSignature(delta["reasoning_details"]);
    if (signature !== "") {
      this.#blocks.addSignature(signature);
    }
    const content = toText(delta.content);
    if (content !== "") {
      this.#addPieces(this.#tags.push(content));
    }
    this.#addRefusal(toText(delta.refusal));
    for (const piece of delta.tool_calls ?? []) {
      this.#endText();
      this.#blocks.addCall(toPiece(piece));
    }
  }

  #addRefusal(text: string): void {
    if (text !== "") {
      this.#endText();
      this.#refusal += text;
      this.#blocks.addText(text);
    }
  }

  /** Text behind anything else is an item of its own, which may begin with a tag. Contract D.20. */
  #endText(): void {
    this.#addPieces(this.#tags.end());
  }

  #addPieces(pieces: readonly Piece[]): void {
    for (const { kind, text } of pieces) {
      if (kind === "reasoning") {
        this.#blocks.addThinking(text);
      } else {
        this.#blocks.addText(text);
      }
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
