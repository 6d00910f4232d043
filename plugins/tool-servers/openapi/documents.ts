import { AppError } from "#kernel/errors.ts";
import type { Egress } from "#kernel/egress/egress.ts";
import type { Headers } from "#kernel/upstream/user-headers.ts";
import type { ToolServerConnection } from "../service.ts";
import { DocumentError, type OpenApiDocument, readDocument } from "../web/openapi/document.ts";
import { type Operation, toOperations } from "../web/openapi/operations.ts";
import { toBase } from "../web/openapi/request.ts";

/** What a server offers, as its document says. */
export interface Offer {
  readonly document: OpenApiDocument;
  readonly operations: readonly Operation[];
  /** Where its operations are called. */
  readonly base: string;
}

const largestDocument = 10 * 1024 * 1024;
const patienceMs = 15_000;

/** Where the document of a server is: `path` may be an address of its own (contract §5.1). */
export function toDocumentUrl({ url, path }: Pick<ToolServerConnection, "url" | "path">): string {
  const place = path?.trim() || "openapi.json";
  return /^https?:\/\//i.test(place) ? place : `${url}/${place.replace(/^\/+/, "")}`;
}

/** Reads the document of a server anew. Throws AppError. */
export async function loadOffer(
  egress: Egress,
  connection: ToolServerConnection,
  options: { readonly headers: Headers; readonly signal: AbortSignal },
): Promise<Offer> {
  const source =
    connection.spec_type === "json"
      ? (connection.spec ?? "")
      : await fetchDocument(egress, connection, options);
  try {
    const document = await readDocument(source);
    return { document, operations: toOperations(document), base: toBase(connection.url, document.server) };
  } catch (error) {
    if (error instanceof DocumentError) {
      const place = connection.spec_type === "json" ? "The document" : toDocumentUrl(connection);
      throw new AppError("upstream", `${place} ${error.message}.`, { cause: error });
    }
    throw error;
  }
}

async function fetchDocument(
  egress: Egress,
  connection: ToolServerConnection,
  { headers, signal }: { readonly headers: Headers; readonly signal: AbortSignal },
): Promise<string> {
  const url = toDocumentUrl(connection);
  // The key is for the server alone: a document elsewhere is fetched without it.
  const isOwn = URL.parse(url)?.origin === URL.parse(connection.url)?.origin;
  const { "content-type": _type, ...sent } = isOwn ? headers : {};
  try {
    const response = await egress.fetch(url, {
      trust: "operator",
      headers: { accept: "application/json, application/yaml;q=0.9, */*;q=0.5", ...sent },
      signal,
      timeoutMs: patienceMs,
      maxBytes: largestDocument,
    });
    if (!response.ok) {
      await response.body?.cancel();
      throw new AppError("upstream", `it answered with status ${response.status}`);
    }
    return await response.text();
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof AppError) {
      const why = error.message.replace(/\.$/, "");
      throw new AppError(error.code, `${url} could not be read: ${why}.`, { cause: error });
    }
    throw error;
  }
}
