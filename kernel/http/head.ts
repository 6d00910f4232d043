import type { OutgoingHttpHeaders, ServerResponse } from "node:http";

export interface RespondContext {
  readonly requestId: string;
  readonly acceptEncoding: string | undefined;
  readonly isHead: boolean;
  /** The answer is for its caller alone. */
  readonly isPrivate: boolean;
  /** ENABLE_COMPRESSION_MIDDLEWARE. */
  readonly compress: boolean;
  /** ENABLE_ORJSON. */
  readonly fastJson: boolean;
  /** Headers of every answer: request id, CORS, nosniff. */
  readonly head: OutgoingHttpHeaders;
  /** When the request came in, as `performance.now()`. */
  readonly started: number;
  /** Called with what broke a stream after its head was sent. */
  failed(error: unknown): void;
}

/** Every head is written here, so that none lacks the common headers. */
export function writeHead(
  response: ServerResponse,
  { status, headers }: Head,
  context: RespondContext,
): void {
  const seconds = ((performance.now() - context.started) / 1000).toFixed(4);
  const isUncached = context.isPrivate && isJson(headers) && headers["cache-control"] === undefined;
  const names = [context.head["vary"], isUncached ? "Authorization, Cookie" : undefined, headers["vary"]];
  const vary = names.filter((name) => name !== undefined).join(", ");
  response.writeHead(status, {
    ...context.head,
    "x-process-time": seconds,
    ...headers,
    ...(isUncached && { "cache-control": "no-store" }),
    ...(vary !== "" && { vary }),
  });
}

/** Private JSON is kept by no cache, neither of a browser nor of a proxy. */
function isJson(headers: OutgoingHttpHeaders): boolean {
  return String(headers["content-type"] ?? "").includes("json");
}

/** Status and headers of one answer. */
export interface Head {
  readonly status: number;
  readonly headers: OutgoingHttpHeaders;
}
