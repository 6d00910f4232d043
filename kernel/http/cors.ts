import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";

const exposed = "x-request-id, request-id, x-process-time, retry-after, retry-after-ms";

/** The headers of every answer: its id, no type guessing, and what CORS_ALLOW_ORIGIN allows. */
export function toCommonHeaders(
  req: IncomingMessage,
  id: string,
  origins: readonly string[],
): OutgoingHttpHeaders {
  const headers: OutgoingHttpHeaders = { "x-request-id": id, "x-content-type-options": "nosniff" };
  const { origin } = req.headers;
  return origin === undefined ? headers : { ...headers, ...toCorsHeaders(origin, origins) };
}

/** Answers a preflight; true when the request was one. */
export function answerPreflight(
  req: IncomingMessage,
  res: ServerResponse,
  origins: readonly string[],
): boolean {
  const { origin } = req.headers;
  if (
    req.method !== "OPTIONS" ||
    origin === undefined ||
    req.headers["access-control-request-method"] === undefined
  ) {
    return false;
  }
  res.writeHead(204, {
    ...toCorsHeaders(origin, origins),
    "access-control-allow-methods": "GET, HEAD, POST, PUT, PATCH, DELETE",
    "access-control-allow-headers":
      req.headers["access-control-request-headers"] ?? "authorization, content-type",
    "access-control-max-age": "600",
  });
  res.end();
  return true;
}

/** Credentials are for origins that are named; `*` alone allows reading without them. */
function toCorsHeaders(origin: string, origins: readonly string[]): OutgoingHttpHeaders {
  if (origins.includes(origin)) {
    return {
      "access-control-allow-origin": origin,
      "access-control-allow-credentials": "true",
      "access-control-expose-headers": exposed,
      vary: "Origin",
    };
  }
  return origins.includes("*")
    ? { "access-control-allow-origin": "*", "access-control-expose-headers": exposed }
    : {};
}
