import type { Chunk, Delta, Usage } from "#kernel/completion/chunk.ts";
import { ProviderError } from "#kernel/errors.ts";

import type { StreamTranslator } from "#kernel/upstream/translated-events.ts";
import { toDetails } from "./reasoning.ts";

type Bag = Readonly<Record<string, unknown>>;

export interface TranslatorOptions {
  /** Contract D.14: the prefix stands in the `model` field of replies. */
  toPublicId(id: string): string;
  /** Whether usage comes in a chunk of its own, as `stream_options.include_usage` asks for. */
  readonly hasUsageChunk: boolean;
}

/** Turns the events of the Responses format into chunks of the common wire. */
export class ResponsesTranslator implements StreamTranslator {
  /** True once the response said how it ended. */
  isFinished = false;

  readonly #options: TranslatorOptions;
  #head: Chunk = { id: "", object: "chat.completion.chunk", created: 0 };
  /** Positions of tool calls among themselves, by output index. */
  readonly #calls = new Map<unknown, number>();
  /** Items whose text or arguments came in pieces. */
  readonly #pieced = new Set<unknown>();
  #thoughts = 0;

  constructor(options: TranslatorOptions) {
    this.#options = options;
  }

  /** What comes after the end says nothing. */
  get isDone(): boolean {
    return this.isFinished;
  }

  /** The chunks that an event makes. Throws ProviderError for one that reports a failure. */
  read(event: Bag): Chunk[] {
    const at = event["output_index"];
    const piece = String(event["delta"] ?? "");
    switch (event["type"]) {
      case "response.created":
        return this.#begin(toBag(event["response"]));
      case "response.output_text.delta":
        return this.#piece(at, { content: piece });
      case "response.refusal.delta":
        return this.#piece(at, { refusal: piece });
      case "response.reasoning_text.delta":
      case "response.reasoning_summary_text.delta":
        return this.#piece(at, { reasoning_content: piece });
      case "response.reasoning_summary_part.added":
        // Parts of a summary are paragraphs.
        return this.#thoughts++ > 0 ? this.#piece(at, { reasoning_content: "\n\n" }) : [];
      case "response.output_item.added":
        return this.#open(at, toBag(event["item"]));
      case "response.function_call_arguments.delta":
        return this.#piece(at, {
          tool_calls: [{ index: this.#calls.get(at) ?? 0, function: { arguments: piece } }],
        });
      case "response.output_item.done":
        return this.#close(at, toBag(event["item"]));
      case "response.completed":
      case "response.incomplete":
        return this.#finish(toBag(event["response"]));
      case "response.failed":
        throw toFailure(toBag(toBag(event["response"])["error"]));
      case "error":
        throw toFailure(event["error"] === undefined ? event : toBag(event["error"]));
      default:
        return [];
    }
  }

  #begin({ id, model, created_at: created }: Bag): Chunk[] {
    this.#head = {
      id: String(id ?? ""),
      object: "chat.completion.chunk",
      created: typeof created === "number" ? Math.trunc(created) : 0,
      ...(typeof model === "string" && { model: this.#options.toPublicId(model) }),
    };
    return [this.#chunk({ role: "assistant", content: "" })];
  }

  #piece(at: unknown, delta: Delta): Chunk[] {
    this.#pieced.add(at);
    return [this.#chunk(delta)];
  }

  #open(at: unknown, item: Bag): Chunk[] {
    if (item["type"] !== "function_call") {
      return [];
    }
    const index = this.#calls.size;
    this.#calls.set(at, index);
    const called = { name: String(item["name"] ?? ""), arguments: "" };
    const id = String(item["call_id"] ?? item["id"] ?? "");
    return [this.#chunk({ tool_calls: [{ index, id, type: "function", function: called }] })];
  }

  /** Servers that do not stream an item send it whole at its end; sealed thoughts come there in any case. */
  #close(at: unknown, item: Bag): Chunk[] {
    const details = toDetails(item);
    const sealed = details.length > 0 ? [this.#chunk({ reasoning_details: details })] : [];
    return this.#pieced.has(at) ? sealed : [...this.#whole(at, item), ...sealed];
  }

  #whole(at: unknown, item: Bag): Chunk[] {
    if (item["type"] === "function_call") {
      const opened = this.#calls.has(at) ? [] : this.#open(at, item);
      const called = { arguments: String(item["arguments"] ?? "") };
      return [
        ...opened,
        this.#chunk({ tool_calls: [{ index: this.#calls.get(at) as number, function: called }] }),
      ];
    }
    const texts = textsOf(item);
    return Object.keys(texts).length > 0 ? [this.#chunk(texts)] : [];
  }

  #finish(response: Bag): Chunk[] {
    this.isFinished = true;
    const usage = toUsage(response["usage"]);
    const reason = toFinishReason(response, this.#calls.size > 0);
    const chunk: Chunk = { ...this.#head, choices: [{ index: 0, delta: {}, finish_reason: reason }] };
    if (usage === undefined) {
      return [chunk];
    }
    // Whoever did not ask for a chunk of usage may not be ready for one without choices.
    return this.#options.hasUsageChunk
      ? [chunk, { ...this.#head, choices: [], usage }]
      : [{ ...chunk, usage }];
  }

  #chunk(delta: Delta): Chunk {
    return { ...this.#head, choices: [{ index: 0, delta, finish_reason: null }] };
  }
}

/** Why a response ended, in the words of chat completions. */
export function toFinishReason(response: Bag, hasCalls: boolean): string {
  const reason = toBag(response["incomplete_details"])["reason"];
  if (response["status"] === "incomplete" || reason !== undefined) {
    return reason === "content_filter" ? "content_filter" : "length";
  }
  return hasCalls ? "tool_calls" : "stop";
}

/** Usage under the names of chat completions. */
export function toUsage(value: unknown): Usage | undefined {
  const usage = toBag(value);
  const { input_tokens: input, output_tokens: output } = usage;
  if (typeof input !== "number" || typeof output !== "number") {
    return undefined;
  }
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: typeof usage["total_tokens"] === "number" ? usage["total_tokens"] : input + output,
    ...(usage["input_tokens_details"] !== undefined && {
      prompt_tokens_details: usage["input_tokens_details"],
    }),
    ...(usage["output_tokens_details"] !== undefined && {
      completion_tokens_details: usage["output_tokens_details"],
    }),
  };
}

/** The texts of a whole item, as one delta or part of a message. */
export function textsOf(item: Bag): { content?: string; refusal?: string; reasoning_content?: string } {
  const parts = [...toList(item["summary"]), ...toList(item["content"])];
  const join = (types: readonly string[], key: string, by: string) =>
    parts
      .filter((part) => types.includes(String(part["type"])))
      .map((part) => part[key])
      .filter((text) => typeof text === "string")
      .join(by);
  const content = join(["output_text"], "text", "");
  const refusal = join(["refusal"], "refusal", "");
  const thought = join(["summary_text", "reasoning_text"], "text", "\n\n");
  return {
    ...(content !== "" && { content }),
    ...(refusal !== "" && { refusal }),
    ...(thought !== "" && { reasoning_content: thought }),
  };
}

/** A failure that came after a good beginning; its code says which status it would have had. */
export function toFailure(error: Bag): ProviderError {
  const message = typeof error["message"] === "string" ? error["message"] : "The provider's answer failed.";
  const code = error["code"] ?? error["type"] ?? "server_error";
  const status = code === "rate_limit_exceeded" ? 429 : 502;
  const body = JSON.stringify({ error: { message, type: error["type"] ?? "server_error", code } });
  return new ProviderError({ status, body, contentType: "application/json", headers: {} });
}

function toBag(value: unknown): Bag {
  return typeof value === "object" && value !== null ? (value as Bag) : {};
}

function toList(value: unknown): Bag[] {
  return Array.isArray(value) ? value.map(toBag) : [];
}
