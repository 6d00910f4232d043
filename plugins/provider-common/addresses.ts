import type { Connection } from "./connection.ts";

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
