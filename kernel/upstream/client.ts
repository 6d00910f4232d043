import { pipeline, type Readable, Transform } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import type { SegmentedBody } from "#kernel/egress/segmented-body.ts";
import type { Egress } from "#kernel/egress/egress.ts";
import { AppError, ProviderError } from "#kernel/errors.ts";
import type { Upstream } from "#kernel/http/route.ts";
import { maskKey } from "./mask.ts";
import { readText } from "./read-text.ts";
import { toUpstreamError } from "./failure.ts";

export interface UpstreamRequest {
  /** Full address, which an administrator or the environment set. */
  readonly url: string;
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body?: string | Buffer | SegmentedBody | Readable | undefined;
  /** Seconds of silence that end the answer; null for the general limit. */
  readonly idleSeconds?: number | null;
  /** Milliseconds in all; the general limit when left out. */
  readonly timeLimit?: number | undefined;
  /** The key that was sent: a refusal that quotes it is passed on without it. */
  readonly secret: string;
  readonly signal?: AbortSignal | undefined;
}

/** A refusal's body beyond this is cut. */
const largestRefusal = 1024 * 1024;

/** Bytes of an answer that was compressed uninvited: a small one may hide gigabytes. */
const largestUnpacked = 16 * 1024 * 1024;

const retryHeaders = ["retry-after", "retry-after-ms"] as const;

/**
 * Sends one request to a model provider; resolves with the head of a good answer. Throws ProviderError for a refusal,
 * AppError `upstream` or `timeout` when there is no usable answer.
 */
export async function openUpstream(egress: Egress, request: UpstreamRequest): Promise<Upstream> {
  const { idleSeconds = null } = request;
  // Tokens should not wait in a compressor, and nothing that unpacks to gigabytes should come in.
  request.headers["accept-encoding"] = "identity";
  let response: Upstream;
  try {
    response = await egress.request(request.url, {
      trust: "operator",
      method: request.method,
      headers: request.headers,
      body: request.body,
      signal: request.signal,
      ...(idleSeconds !== null && {
        headersTimeoutMs: idleSeconds * 1000,
        idleTimeoutMs: idleSeconds * 1000,
      }),
      timeoutMs: request.timeLimit,
    });
  } catch (error) {
    throw toUpstreamError(error, request.signal);
  }
  if (response.status >= 400) {
    throw await toRefusal(response, request.secret);
  }
  return requireUsable(decoded(response));
}

async function toRefusal(response: Upstream, secret: string): Promise<ProviderError> {
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
    body: withoutKey(body, secret),
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
