import type { OutgoingHttpHeaders } from "node:http";
import { asObject, parseOrUndefined } from "#config/json-values.ts";
import type { MessageCall } from "#kernel/completion/provider.ts";
import { toErrorEvent } from "#kernel/http/errors.ts";
import { type BodyRewriter, relay, reply, type Upstream } from "#kernel/http/route.ts";
import { readText } from "#kernel/upstream/read-text.ts";

export interface ForwardOptions {
  readonly send: (call: MessageCall) => Promise<Upstream>;
  readonly call: MessageCall;
  /** The id that replies are to carry; undefined where the upstream's own is right. Contract D.14. */
  readonly rename: string | undefined;
  readonly requestId: string;
}

const largestAnswer = 64 * 1024 * 1024;

/**
 * Sends a request to an upstream of the same format and its reply back, byte for byte. Core API, vendor messages rule
 * 2: filters, tools and knowledge do not run.
 */
export async function forward({ send, call, rename, requestId }: ForwardOptions) {
  const upstream = await send(call);
  const headers = toHeaders(upstream);
  if (!String(upstream.headers["content-type"] ?? "").includes("event-stream")) {
    const text = await readText(upstream.body, largestAnswer, call.signal);
    const message = asObject(parseOrUndefined(text));
    const isRenamed = rename !== undefined && typeof message?.["model"] === "string";
    return reply(isRenamed ? JSON.stringify({ ...message, model: rename }) : text, { headers });
  }
  return relay(upstream, {
    rewriter: rename === undefined ? undefined : renameFirstEvent(rename),
    headers: { ...headers, "cache-control": "no-cache", "x-accel-buffering": "no" },
    // The event that was cut off becomes a ping: clients skip those unread, and would stumble over half a JSON text.
    brokenFrame: (error) => `\nevent: ping\n\n${toErrorEvent(error, requestId)}`,
  });
}

/** The headers that clients of the format read; others stay between this platform and the upstream. */
function toHeaders({ headers }: Upstream): OutgoingHttpHeaders {
  const result: OutgoingHttpHeaders = {
    "content-type": String(headers["content-type"] ?? "application/json"),
    "content-security-policy": "default-src 'none'; sandbox",
  };
  for (const [name, value] of Object.entries(headers)) {
    if (/^(?:request-id|retry-after(?:-ms)?|anthropic-ratelimit-.*)$/.test(name)) {
      result[name] = value;
    }
  }
  return result;
}

/** Bytes within which the first event has to end. */
const longestStart = 64 * 1024;

const nothing = Buffer.alloc(0);

/** Changes the model's name in the first event; every other byte stays. */
function renameFirstEvent(name: string): BodyRewriter {
  // Undefined once the first event is out.
  let start: Buffer | undefined = nothing;
  const finish = (): Buffer => {
    const bytes = start ?? nothing;
    start = undefined;
    return rename(bytes, name);
  };
  return {
    push(bytes) {
      if (start === undefined) {
        return bytes;
      }
      start = Buffer.concat([start, bytes]);
      return isWhole(start) ? finish() : nothing;
    },
    end: finish,
  };
}

function isWhole(bytes: Buffer): boolean {
  return bytes.length > longestStart || /\r?\n\r?\n/.test(bytes.toString("latin1"));
}

/** Reads bytes as Latin-1, so that only the name changes, wherever a character was cut. */
function rename(bytes: Buffer, name: string): Buffer {
  const value = Buffer.from(JSON.stringify(name)).toString("latin1");
  const model = /("model"\s*:\s*)"(?:[^"\\]|\\.)*"/;
  return Buffer.from(
    bytes.toString("latin1").replace(model, (_whole, key: string) => key + value),
    "latin1",
  );
}
