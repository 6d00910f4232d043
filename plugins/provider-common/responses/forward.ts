import { Readable } from "node:stream";
import type { ForwardResponses } from "#kernel/completion/provider.ts";
import type { Upstream } from "#kernel/http/route.ts";
import { toUpstreamError } from "#kernel/upstream/failure.ts";
import { withModel } from "#kernel/upstream/model-key.ts";
import { SseParser } from "#kernel/upstream/sse-parser.ts";
import type { Target } from "../models/offers.ts";
import type { Posting, PreparedCall } from "../completions/prepared-call.ts";

const largestEvent = 16 * 1024 * 1024;

/** Sends a request of the Responses format to an upstream that has it. */
export async function forwardResponses(provider: Posting, call: PreparedCall): Promise<Upstream> {
  return toPublicAnswer(await sendResponses(provider, call), call);
}

/** The upstream's answer; one that is no stream carries the public id already. */
export function sendResponses(provider: Posting, call: PreparedCall): Promise<Upstream> {
  return call.isStream ? provider.send("/responses", call) : provider.post("/responses", call);
}

/**
 * Where there is a prefix, the events of an answer carry the public id (contract D.14); otherwise every byte is the
 * upstream's.
 */
export function toPublicAnswer(upstream: Upstream, { isStream, target, context }: PreparedCall): Upstream {
  const { prefix } = target.connection;
  if (!isStream || prefix === "" || !isEventStream(upstream)) {
    return upstream;
  }
  const { "content-length": _length, ...headers } = upstream.headers;
  const body = Readable.from(withPrefix(upstream, prefix, context.signal));
  return { status: upstream.status, headers, body };
}

export interface ForwardOptions extends Posting {
  /** ENABLE_RESPONSES_API_STATEFUL. */
  isStateful(): boolean;
}

/** What takes requests of the Responses format as they are: connections of that format, no others. */
export function toForward(target: Target | undefined, options: ForwardOptions): ForwardResponses | undefined {
  if (target?.connection.apiType !== "responses") {
    return undefined;
  }
  return ({ body, isStream, ...context }) => {
    const { previous_response_id: previous, ...rest } = withModel(body, target.upstreamId);
    const kept = options.isStateful() ? { ...rest, previous_response_id: previous } : rest;
    return forwardResponses(options, { target, isStream, context, body: JSON.stringify(kept) });
  };
}

/** Whether an answer came as events, whatever was asked for. */
export function isEventStream({ headers }: Upstream): boolean {
  return String(headers["content-type"] ?? "").includes("event-stream");
}

async function* withPrefix({ body }: Upstream, prefix: string, signal: AbortSignal): AsyncGenerator<Buffer> {
  const parser = new SseParser({ hardLimit: largestEvent });
  try {
    for await (const piece of body as Readable & AsyncIterable<Buffer>) {
      parser.push(piece);
      yield* takeFrames(parser, prefix);
    }
  } catch (error) {
    throw toUpstreamError(error, signal);
  }
  parser.end();
  yield* takeFrames(parser, prefix);
}

function* takeFrames(parser: SseParser, prefix: string): Generator<Buffer> {
  while (parser.hasMore) {
    const frames = parser.take(64).map(({ data, name }) => {
      const lines = rename(data, prefix)
        .split("\n")
        .map((line) => `data: ${line}\n`);
      return `${name === "" ? "" : `event: ${name}\n`}${lines.join("")}\n`;
    });
    if (frames.length > 0) {
      yield Buffer.from(frames.join(""));
    }
  }
}

function rename(data: string, prefix: string): string {
  try {
    const event = JSON.parse(data) as { response?: { model?: unknown } } | null;
    if (typeof event?.response?.model !== "string") {
      return data;
    }
    event.response.model = `${prefix}.${event.response.model}`;
    return JSON.stringify(event);
  } catch {
    return data;
  }
}
