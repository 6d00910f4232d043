import type { Chunk, Delta } from "#kernel/completion/chunk.ts";
import { ProviderError } from "#kernel/errors.ts";
import type { StreamTranslator } from "#kernel/upstream/translated-events.ts";
import { toFinishReason } from "./finish.ts";
import { type ThinkingBlock, toDetail } from "./reasoning.ts";
import { fromVendorUsage, mergeUsage, type VendorUsage } from "./usage.ts";

/** An event of the vendor's stream, as far as it is read. */
interface VendorEvent {
  readonly type?: string;
  readonly index?: number;
  readonly message?: { readonly id?: string; readonly model?: string; readonly usage?: VendorUsage };
  readonly content_block?: Readonly<Record<string, unknown>> & { readonly type?: string };
  readonly delta?: Readonly<Record<string, unknown>> & { readonly type?: string };
  readonly usage?: VendorUsage | null;
  readonly error?: { readonly type?: string };
}

/** A block that is being streamed. */
interface OpenBlock {
  readonly type: string;
  readonly start: Readonly<Record<string, unknown>>;
  /** Position among the reply's calls. */
  readonly call: number;
  thought: string;
  signature: string;
  hasInput: boolean;
}

export interface EventOptions {
  /** The caller asked for usage in a chunk of its own. */
  readonly wantsUsage: boolean;
  toPublicId(model: string): string;
}

/** Statuses of errors that come inside of a stream. */
const statuses: Readonly<Record<string, number>> = {
  invalid_request_error: 400,
  authentication_error: 401,
  billing_error: 402,
  permission_error: 403,
  not_found_error: 404,
  request_too_large: 413,
  rate_limit_error: 429,
  api_error: 500,
  timeout_error: 504,
  overloaded_error: 529,
};

/** The vendor's events in, chunks of the common wire out. */
export class EventTranslator implements StreamTranslator {
  /** True once the reply's last event came. */
  isDone = false;
  /** True once the finish reason arrived. */
  isFinished = false;

  readonly #options: EventOptions;
  #head: Chunk = { object: "chat.completion.chunk", created: Math.floor(Date.now() / 1000) };
  #usage: VendorUsage = {};
  readonly #blocks = new Map<number, OpenBlock>();
  #calls = 0;

  constructor(options: EventOptions) {
    this.#options = options;
  }

  /** The chunks of one event. Throws ProviderError for an error event. */
  read(event: VendorEvent, text: string): Chunk[] {
    switch (event.type) {
      case "message_start":
        return this.#start(event);
      case "content_block_start":
        return this.#open(event.index ?? 0, event.content_block ?? {});
      case "content_block_delta":
        return this.#delta(event.index ?? 0, event.delta ?? {});
      case "content_block_stop":
        return this.#close(event.index ?? 0);
      case "message_delta":
        return this.#finish(event);
      case "message_stop":
        this.isDone = true;
        return [];
      case "error":
        throw toError(event, text);
      default:
        return [];
    }
  }

  #start({ message = {} }: VendorEvent): Chunk[] {
    const { id = "msg", model = "" } = message;
    this.#head = { ...this.#head, id, model: this.#options.toPublicId(model) };
    this.#usage = mergeUsage({}, message.usage);
    return [this.#chunk({ role: "assistant", content: "" })];
  }

  #open(index: number, start: NonNullable<VendorEvent["content_block"]>): Chunk[] {
    const type = start.type ?? "";
    const block = { type, start, call: this.#calls, thought: "", signature: "", hasInput: false };
    this.#blocks.set(index, block);
    if (type === "text" || type === "thinking") {
      // Some servers put the first piece here.
      return this.#delta(index, { type: `${type}_delta`, [type]: start[type] });
    }
    if (type !== "tool_use") {
      return [];
    }
    this.#calls += 1;
    const called = { name: toText(start["name"]), arguments: "" };
    return [
      this.#chunk({
        tool_calls: [{ index: block.call, id: toText(start["id"]), type: "function", function: called }],
      }),
    ];
  }

  /** Translates by the delta's own type: an upstream that miscounts its blocks loses nothing. */
  #delta(index: number, delta: NonNullable<VendorEvent["delta"]>): Chunk[] {
    const block = this.#blocks.get(index);
    switch (delta.type) {
      case "text_delta":
        return delta["text"] ? [this.#chunk({ content: toText(delta["text"]) })] : [];
      case "thinking_delta":
        return this.#think(block, toText(delta["thinking"]));
      case "signature_delta":
        if (block) {
          block.signature = toText(delta["signature"]);
        }
        return [];
      case "input_json_delta":
        return this.#argue(block, toText(delta["partial_json"]));
      default:
        return [];
    }
  }

  #think(block: OpenBlock | undefined, piece: string): Chunk[] {
    if (block) {
      block.thought += piece;
    }
    return piece === "" ? [] : [this.#chunk({ reasoning_content: piece })];
  }

  #argue(block: OpenBlock | undefined, piece: string): Chunk[] {
    const index = block?.type === "tool_use" ? block.call : this.#calls - 1;
    if (piece === "" || index < 0 || (block && block.type !== "tool_use")) {
      return [];
    }
    if (block) {
      block.hasInput = true;
    }
    return [this.#chunk({ tool_calls: [{ index, function: { arguments: piece } }] })];
  }

  #close(index: number): Chunk[] {
    const block = this.#blocks.get(index);
    this.#blocks.delete(index);
    switch (block?.type) {
      case "thinking":
      case "redacted_thinking":
        return [this.#chunk({ reasoning_details: [toDetail(toThought(block), index)] })];
      case "tool_use":
        // A call without pieces has its input in the beginning; it is an object in any case.
        return block.hasInput
          ? []
          : [
              this.#chunk({
                tool_calls: [
                  { index: block.call, function: { arguments: JSON.stringify(block.start["input"] ?? {}) } },
                ],
              }),
            ];
      default:
        return [];
    }
  }

  #finish({ delta, usage }: VendorEvent): Chunk[] {
    this.#usage = mergeUsage(this.#usage, usage);
    const reason = delta?.["stop_reason"];
    if (typeof reason !== "string" || this.isFinished) {
      return [];
    }
    this.isFinished = true;
    const usageKey = { usage: fromVendorUsage(this.#usage) };
    const choices = [{ index: 0, delta: {}, finish_reason: toFinishReason(reason) }];
    // Callers that did not ask for a chunk of usage may not expect one without choices.
    return this.#options.wantsUsage
      ? [
          { ...this.#head, choices },
          { ...this.#head, choices: [], ...usageKey },
        ]
      : [{ ...this.#head, choices, ...usageKey }];
  }

  #chunk(delta: Delta): Chunk {
    return { ...this.#head, choices: [{ index: 0, delta, finish_reason: null }] };
  }
}

function toThought({ type, start, thought, signature }: OpenBlock): ThinkingBlock {
  return type === "thinking"
    ? { type, thinking: thought, signature: signature || toText(start["signature"]) }
    : { type: "redacted_thinking", data: toText(start["data"]) };
}

function toError({ error }: VendorEvent, body: string): ProviderError {
  const status = statuses[error?.type ?? ""] ?? 502;
  return new ProviderError({ status, body, contentType: "application/json", headers: {} });
}

function toText(value: unknown): string {
  return typeof value === "string" ? value : "";
}
