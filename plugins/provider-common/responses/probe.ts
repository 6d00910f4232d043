import { Readable } from "node:stream";
import { ProviderError } from "#kernel/errors.ts";
import type { Upstream } from "#kernel/http/route.ts";
import { toUpstreamError } from "#kernel/upstream/failure.ts";
import { readText } from "#kernel/upstream/read-text.ts";
import { SseParser } from "#kernel/upstream/sse-parser.ts";
import type { Connection } from "../connections/connection.ts";
import type { Posting, PreparedCall } from "../completions/prepared-call.ts";
import { isEventStream, sendResponses, toPublicAnswer } from "./forward.ts";

/** Finds out which upstreams know the Responses format although their connection does not say so. */
export interface ResponsesProbe {
  /**
   * The upstream's answer to a request of the format; undefined where it does not know the format, so that the request
   * has to be put as a chat completion. Throws like every call where the upstream itself refuses.
   */
  forward(call: PreparedCall): Promise<Upstream | undefined>;
}

/** How long an upstream that did not know the format is not asked for it again, in milliseconds. */
const forgetAfter = 10 * 60_000;

/** Creates what remembers, as long as a connection's settings stay the same, how its upstream took the format. */
export function createResponsesProbe(
  provider: Posting,
  now: () => number = () => performance.now(),
): ResponsesProbe {
  const unknownUntil = new WeakMap<Connection, number>();
  const known = new WeakSet<Connection>();
  return {
    async forward(call) {
      const { connection } = call.target;
      const isSure = connection.apiType === "responses" || known.has(connection);
      if (!isSure && (connection.speaksChatOnly || (unknownUntil.get(connection) ?? -Infinity) > now())) {
        return undefined;
      }
      const answer = await (isSure ? sendResponses(provider, call) : attempt(provider, call));
      if (answer === undefined) {
        unknownUntil.set(connection, now() + forgetAfter);
        return undefined;
      }
      known.add(connection);
      return toPublicAnswer(answer, call);
    },
  };
}

async function attempt(provider: Posting, call: PreparedCall): Promise<Upstream | undefined> {
  let upstream: Upstream;
  try {
    upstream = await sendResponses(provider, call);
  } catch (error) {
    if (error instanceof ProviderError && isUnknownRoute(error)) {
      return undefined;
    }
    throw error;
  }
  return isEventStream(upstream)
    ? recogniseStream(upstream, call.context.signal)
    : recogniseWhole(upstream, call.context.signal);
}

/** Servers without the route say so by these; one that misses the model knew the route. */
function isUnknownRoute({ status, body }: ProviderError): boolean {
  return [404, 405, 501].includes(status) && !/model[ _]not[ _]found/i.test(body);
}

const largestAnswer = 64 * 1024 * 1024;

/** Some servers answer any path, with a complaint or with a chat completion: such an answer is none. */
async function recogniseWhole(upstream: Upstream, signal: AbortSignal): Promise<Upstream | undefined> {
  const text = await readText(upstream.body, largestAnswer, signal);
  const { object, output } = parse(text);
  if (object !== "response" && !Array.isArray(output)) {
    return undefined;
  }
  const { "content-length": _length, ...headers } = upstream.headers;
  return { status: upstream.status, headers, body: Readable.from([Buffer.from(text)]) };
}

/** Bytes within which the first event has to end. */
const longestStart = 1024 * 1024;

async function recogniseStream(upstream: Upstream, signal: AbortSignal): Promise<Upstream | undefined> {
  const pieces = upstream.body[Symbol.asyncIterator]() as AsyncIterator<Buffer, undefined>;
  const parser = new SseParser({ hardLimit: longestStart });
  const start: Buffer[] = [];
  try {
    for (;;) {
      const { done, value } = await pieces.next();
      if (done) {
        parser.end();
      } else {
        start.push(value);
        parser.push(value);
      }
      const [first] = parser.take(1);
      if (first) {
        const type = String(parse(first.data)["type"] ?? first.name);
        if (/^(?:response\.|error$)/.test(type)) {
          return { ...upstream, body: Readable.from(replay(start, pieces)) };
        }
      }
      if (first ?? done) {
        upstream.body.destroy();
        return undefined;
      }
    }
  } catch (error) {
    throw toUpstreamError(error, signal);
  }
}

async function* replay(start: readonly Buffer[], rest: AsyncIterator<Buffer, undefined>) {
  yield* start;
  yield* { [Symbol.asyncIterator]: () => rest };
}

function parse(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
