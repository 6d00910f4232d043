import type { Connection } from "../connections/connection.ts";
import { toAddress } from "../connections/addresses.ts";
import { parseModels, type UpstreamList } from "./parse-models.ts";
import { readText } from "#kernel/upstream/read-text.ts";
import type { UpstreamClient } from "../connections/upstream.ts";

/** The version of the vendor's message format that this platform speaks. */
const vendorVersion = { "anthropic-version": "2023-06-01" };

const largestList = 10 * 1024 * 1024;

/** Fetches what an upstream lists, within `timeLimit` milliseconds. Throws ProviderError or AppError like every call. */
export async function fetchModels(
  client: UpstreamClient,
  connection: Connection,
  timeLimit: number,
): Promise<UpstreamList> {
  const upstream = await client.open({
    connection,
    url: toAddress(connection, connection.format === "message" ? "/v1/models?limit=1000" : "/models"),
    method: "GET",
    headers: connection.format === "message" ? vendorVersion : undefined,
    timeLimit,
  });
  return parseModels(await readText(upstream.body, largestList));
}
