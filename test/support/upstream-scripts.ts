import { setImmediate as immediate } from "node:timers/promises";
import type { Chunk, Usage } from "#kernel/completion/chunk.ts";
import { type ChunkOptions, chunk, completion, defaultUsage, textChunks } from "./upstream-chunks.ts";
import { lastTransferChunk, transferChunk } from "./upstream-http.ts";
import type { Script } from "./upstream-exchange.ts";

/** A frame of a stream: an object becomes `data: …`, a string is written as it stands. */
export type Frame = Chunk | Readonly<Record<string, unknown>> | string;

export interface StreamOptions {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Milliseconds before every frame. */
  readonly every?: number;
  /** Whether `data: [DONE]` ends the stream. */
  readonly done?: boolean;
  /** Cuts every frame into pieces of one byte, or inside every character that is longer than one byte. */
  readonly split?: "bytes" | "characters";
}

/** A JSON answer with its length. */
export function json(
  value: unknown,
  options: { status?: number; headers?: Readonly<Record<string, string>> } = {},
): Script {
  return body(JSON.stringify(value), {
    status: options.status,
    headers: { "content-type": "application/json", ...options.headers },
  });
}

/** An answer of any type with its length. */
export function body(
  data: string | Uint8Array,
  options: { status?: number | undefined; headers?: Readonly<Record<string, string>> } = {},
): Script {
  const bytes = Buffer.from(data as string);
  return async (exchange) => {
    await exchange.start(options.status ?? 200, {
      ...options.headers,
      "content-length": String(bytes.length),
    });
    await exchange.write(bytes);
  };
}

/** An error in the common format. */
export function failure(
  status: number,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): Script {
  return json({ error: { message, type: "mock_error", code: status } }, { status, headers });
}

/** The refusal of a provider that wants the caller to come back later, with both of its retry headers. */
export function rateLimited(options: { seconds?: number; message?: string } = {}): Script {
  const seconds = options.seconds ?? 7;
  return failure(429, options.message ?? "Rate limit reached", {
    "retry-after": String(seconds),
    "retry-after-ms": String(seconds * 1000),
  });
}

/** A list of models: ids, or whole items. */
export function modelList(items: readonly (string | Readonly<Record<string, unknown>>)[]): Script {
  const data = items.map((item) =>
    typeof item === "string" ? { id: item, object: "model", created: 1_700_000_000, owned_by: "mock" } : item,
  );
  return json({ object: "list", data });
}

/** A stream of Server-Sent Events, one TCP write a frame; frames may come from an async iterable a test feeds. */
export function sse(frames: Iterable<Frame> | AsyncIterable<Frame>, options: StreamOptions = {}): Script {
  return stream(frames, {
    type: "text/event-stream",
    toText: (frame) => `data: ${JSON.stringify(frame)}\n\n`,
    last: options.done === false ? "" : "data: [DONE]\n\n",
    options,
  });
}

/** A stream of JSON lines, as the local runtime writes it. */
export function jsonLines(
  lines: Iterable<Frame> | AsyncIterable<Frame>,
  options: StreamOptions = {},
): Script {
  return stream(lines, {
    type: "application/x-ndjson",
    toText: (line) => `${JSON.stringify(line)}\n`,
    last: "",
    options,
  });
}

/** A chat reply, streamed or whole, as the request asks for; usage is streamed only when asked for. */
export function text(content: string, options: ChunkOptions & StreamOptions = {}): Script {
  return (exchange) => {
    const asked = exchange.request.body ?? {};
    const facts = { model: asked.model, ...options, usage: options.usage ?? defaultUsage };
    if (!asked.stream) {
      return json(completion(content, facts))(exchange);
    }
    const usage = asked.stream_options?.include_usage ? facts.usage : undefined;
    return sse(textChunks(content, { ...facts, usage }), options)(exchange);
  };
}

/** A streamed reply of `count` tokens, one every `every` milliseconds: `t0 t1 t2 …`. */
export function tokens(count: number, every: number, options: { usage?: Usage } = {}): Script {
  const pieces = Array.from({ length: count }, (_, n) => `t${n} `);
  return sse(textChunks(pieces, options), { every });
}

/** Raw bytes as they stand, head included; a number waits that many milliseconds. */
export function raw(...steps: readonly (string | Uint8Array | number)[]): Script {
  return async (exchange) => {
    for (const step of steps) {
      await (typeof step === "number" ? exchange.wait(step) : exchange.write(step));
    }
  };
}

/** Embeddings of the request's input: one vector a text, the same text always the same vector, of length 1. */
export function embeddings(dimensions = 8): Script {
  return (exchange) => {
    const { input, model, encoding_format: format } = exchange.request.body;
    const texts: string[] = Array.isArray(input) ? input : [input];
    const data = texts.map((each, index) => {
      const vector = embed(each, dimensions);
      const embedding =
        format === "base64" ? Buffer.from(new Float32Array(vector).buffer).toString("base64") : vector;
      return { object: "embedding", index, embedding };
    });
    const count = texts.join(" ").split(/\s+/).length;
    return json({ object: "list", model, data, usage: { prompt_tokens: count, total_tokens: count } })(
      exchange,
    );
  };
}

/** A frame that reports an error midway, as providers do. */
export function errorFrame(message: string, code: string | number = 500): Frame {
  return { error: { message, type: "server_error", code } };
}

/** A chunk of valid JSON that is `bytes` long or a little longer. */
export function oversizedChunk(bytes: number): Chunk {
  return chunk({ content: "x".repeat(bytes) });
}

interface StreamKind {
  readonly type: string;
  readonly toText: (frame: unknown) => string;
  readonly last: string;
  readonly options: StreamOptions;
}

function stream(frames: Iterable<Frame> | AsyncIterable<Frame>, kind: StreamKind): Script {
  const { status = 200, headers, every = 0 } = kind.options;
  return async (exchange) => {
    await exchange.start(status, { "content-type": kind.type, "transfer-encoding": "chunked", ...headers });
    for await (const each of frames) {
      if (every > 0) {
        await exchange.wait(every);
      }
      if (exchange.gone.aborted) {
        return;
      }
      for (const piece of cut(typeof each === "string" ? each : kind.toText(each), kind.options.split)) {
        // A transfer chunk for each, and a pause: neither the kernel nor a parser should join them again.
        await exchange.write(transferChunk(piece));
        await (kind.options.split === "characters" ? exchange.wait(2) : immediate());
      }
    }
    const ending = kind.last === "" ? "" : transferChunk(kind.last).toString();
    await exchange.write(ending + lastTransferChunk);
  };
}

function cut(frame: string, split: StreamOptions["split"]): readonly (string | Uint8Array)[] {
  const bytes = Buffer.from(frame);
  const positions = split ? [...bytes.keys()] : [];
  // The first byte of a long character has its two highest bits set: the cut comes right behind it.
  const cuts =
    split === "bytes" ? positions.slice(1) : positions.filter((at) => bytes[at]! >= 0xc0).map((at) => at + 1);
  return [0, ...cuts].map((from, n) => bytes.subarray(from, cuts[n] ?? bytes.length));
}

function embed(text: string, dimensions: number): number[] {
  let seed = 2166136261;
  for (const unit of Buffer.from(text)) {
    seed = Math.imul(seed ^ unit, 16777619) >>> 0;
  }
  const vector = Array.from({ length: dimensions }, () => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    return seed / 2 ** 31 - 1;
  });
  const length = Math.hypot(...vector);
  return vector.map((value) => value / length);
}
