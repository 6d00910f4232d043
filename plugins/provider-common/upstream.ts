import { pipeline, type Readable, Transform } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import type { CallContext } from "#kernel/completion/provider.ts";
import type { Egress } from "#kernel/egress/egress.ts";
import { AppError, ProviderError } from "#kernel/errors.ts";
import type { Upstream } from "#kernel/http/route.ts";
import type { Connection } from "./connection.ts";
import type { HeaderBuilder } from "./headers.ts";
import { maskKey } from "./mask.ts";
import { readText } from "./read-body.ts";
import { toUpstreamError } from "./upstream-errors.ts";

export interface UpstreamCall {
  readonly connection: Connection;
  /** Full address. */
  readonly url: string;
  readonly method: string;
  readonly body?: string | Buffer | Readable | undefined;
  /** The streamed answer's limit of silence holds instead of the general one. */
  readonly isStream?: boolean;
  /** Content type of the body when it is not JSON. */
  readonly contentType?: string | undefined;
  readonly accept?: string | undefined;
  /** Milliseconds in all; the general limit when left out. */
  readonly timeLimit?: number | undefined;
  /** Undefined for calls of the platform itself. */
  readonly facts?: Omit<CallContext, "signal"> | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface UpstreamClient {
  /**
   * Sends one request; resolves with the head of a good answer. Throws ProviderError for a refusal, AppError
   * `upstream` or `timeout` when there is no usable answer.
   */
  open(call: UpstreamCall): Promise<Upstream>;
}

export interface UpstreamClientOptions {
  readonly egress: Egress;
  readonly headers: HeaderBuilder;
  /** AIOHTTP_CLIENT_STREAM_IDLE_TIMEOUT in seconds. */
  streamIdleTimeout(): number | null;
}

/** A refusal's body beyond this is cut. */
const largestRefusal = 1024 * 1024;

/** Bytes of an answer that was compressed uninvited: a small one may hide gigabytes. */
const largestUnpacked = 16 * 1024 * 1024;

const retryHeaders = ["retry-after", "retry-after-ms"] as const;

/** Builds the client for common-format upstreams over the one outbound client. */
export function createUpstreamClient(options: UpstreamClientOptions): UpstreamClient {
  return {
    async open(call) {
      const built = options.headers.build(call.connection, call.facts);
      const headers = built instanceof Promise ? await built : built;
      headers["accept"] =
        call.accept ?? (call.isStream ? "text/event-stream, application/json" : "application/json");
      // Tokens should not wait in a compressor, and nothing that unpacks to gigabytes should come in.
      headers["accept-encoding"] = "identity";
      if (call.contentType !== undefined) {
        headers["content-type"] = call.contentType;
      }
      const response = await send(call, headers, options);
      if (response.status >= 400) {
        throw await toRefusal(response, call.connection);
      }
      return requireUsable(decoded(response));
    },
  };
}

async function send(
  call: UpstreamCall,
  headers: Record<string, string>,
  options: UpstreamClientOptions,
): Promise<Upstream> {
  const idle = call.isStream ? options.streamIdleTimeout() : null;
  try {
    return await options.egress.request(call.url, {
      trust: "operator",
      method: call.method,
      headers,
      body: call.body,
      signal: call.signal,
      ...(idle !== null && { headersTimeoutMs: idle * 1000, idleTimeoutMs: idle * 1000 }),
      timeoutMs: call.timeLimit,
    });
  } catch (error) {
    throw toUpstreamError(error, call.signal);
  }
}

async function toRefusal(response: Upstream, connection: Connection): Promise<ProviderError> {
  const headers: Record<string, string> = {};
  for (const name of retryHeaders) {
    const value = response.headers[name];
    if (typeof value === "string") {
      headers[name] = value;
    }
  }
  // A body that breaks off must not hide the status, which is what the caller acts on.
  const body = await readText(decoded(response).body, largestRefusal).catch(() => "");
  return new ProviderError({
    status: Math.min(response.status, 599),
    body: withoutKey(body, connection.key),
    contentType: String(response.headers["content-type"] ?? "application/json"),
    headers,
  });
}

/** Some upstreams quote the key they refuse; no caller may see it. */
function withoutKey(text: string, key: string): string {
  return key.length >= 8 ? text.replaceAll(key, maskKey(key)) : text;
}

/** Unpacks what an upstream compressed although it was asked not to. */
function decoded(response: Upstream): Upstream {
  const encoding = String(response.headers["content-encoding"] ?? "identity")
    .trim()
    .toLowerCase();
  if (encoding === "identity" || encoding === "") {
    return response;
  }
  const unpack = {
    gzip: createGunzip,
    "x-gzip": createGunzip,
    deflate: createInflate,
    br: createBrotliDecompress,
  }[encoding];
  if (unpack === undefined) {
    response.body.destroy();
    throw new AppError("upstream", "The provider's answer is compressed in an unknown way.");
  }
  const { "content-encoding": _encoding, "content-length": _length, ...headers } = response.headers;
  // The errors of all three come out of the last one; who reads it sees them.
  const body = pipeline(response.body, unpack(), createLimit(largestUnpacked), () => {});
  return { status: response.status, headers, body };
}

/** Lets `limit` bytes through. */
function createLimit(limit: number): Transform {
  let left = limit;
  return new Transform({
    transform(piece: Buffer, _encoding, done) {
      left -= piece.length;
      if (left < 0) {
        done(new AppError("upstream", "The provider's compressed answer is too large."));
      } else {
        done(null, piece);
      }
    },
  });
}

/** A page instead of an answer: a wrong address, or a portal in between. */
function requireUsable(response: Upstream): Upstream {
  const isPage = /text\/html|application\/xhtml/i.test(String(response.headers["content-type"] ?? ""));
  if (isPage || response.status >= 300) {
    response.body.destroy();
    const what = isPage ? "a web page" : `status ${response.status}`;
    throw new AppError(
      "upstream",
      `The provider answered with ${what} instead of data. Its base address may be wrong.`,
    );
  }
  return response;
}
