import type { Connection } from "./connection.ts";

/**
 * Where requests of the vendor's message format go. Its own upstreams and proxies have it below the version; of other
 * upstreams the base address names the version already.
 */
export function toMessageAddress({ url, format, provider }: Connection, path: string): string {
  return format === "message" || provider === "litellm"
    ? `${url.replace(/\/v1$/, "")}/v1/messages${path}`
    : `${url}/messages${path}`;
}

/** The address of a route of an upstream; `path` starts with a slash. Azure puts the model and the version into it. */
export function toAddress(connection: Connection, path: string, upstreamId?: string): string {
  // The newer Azure routes (…/openai/v1) are the common ones.
  if (!connection.isAzure || connection.url.endsWith("/openai/v1")) {
    return connection.url + path;
  }
  const base = connection.url.replace(/\/openai$/, "");
  const deployment = upstreamId === undefined ? "" : `/deployments/${encodeURIComponent(upstreamId)}`;
  return `${base}/openai${deployment}${path}?api-version=${encodeURIComponent(connection.apiVersion)}`;
}
