import type { OutgoingHttpHeaders } from "node:http";
import { AppError } from "#kernel/errors.ts";
import { type Reply, type RequestInfo, reply } from "#kernel/http/route.ts";
import type { Blobs } from "#storage/blobs.ts";
import { isShownInline } from "./media.ts";
import { toDisposition } from "./names.ts";
import { parseRange } from "./range.ts";
import type { FileRecord } from "./service.ts";

export interface Serving {
  readonly file: FileRecord;
  /** Key of the bytes; undefined when there are none. */
  readonly path: string | undefined;
  readonly request: RequestInfo;
  /** `auto` shows what is harmless and saves the rest; `page` shows HTML in a sandbox. */
  readonly as: "auto" | "attachment" | "page";
}

// Scripts, forms, plugins and the session are out of reach of whatever a file contains: its origin is opaque.
const sandbox =
  "sandbox; default-src 'none'; img-src data:; style-src 'unsafe-inline'; media-src 'self'; form-action 'none'";
// Browsers refuse to start their PDF viewer in a sandbox; it runs apart from the page anyway.
const pdfPolicy = "default-src 'none'; style-src 'unsafe-inline'; object-src 'self'; form-action 'none'";

/** Answers a file's bytes: whole, a range of them, or "not modified". */
export async function serveFile(blobs: Blobs, { file, path, request, as }: Serving): Promise<Reply> {
  const size = path === undefined ? undefined : await blobs.size(path);
  if (path === undefined || size === undefined) {
    throw new AppError("not_found", "Not found");
  }
  const etag = `"${file.hash ?? file.id}"`;
  const headers = { ...toHeaders(file, as), etag };
  if (matches(request.headers["if-none-match"], etag)) {
    return reply(undefined, { status: 304, headers: { etag, "cache-control": headers["cache-control"] } });
  }
  const ifRange = request.headers["if-range"];
  const range =
    ifRange === undefined || ifRange === etag ? parseRange(request.headers.range, size) : undefined;
  if (range === "unsatisfiable") {
    const detail = `The file has ${size} bytes.`;
    return reply({ detail }, { status: 416, headers: { "content-range": `bytes */${size}` } });
  }
  const bytes = await blobs.read(path, range);
  if (bytes === undefined) {
    throw new AppError("not_found", "Not found");
  }
  if (range === undefined) {
    return reply(bytes, { headers: { ...headers, "content-length": size } });
  }
  const length = range.end - range.start + 1;
  const part = { "content-range": `bytes ${range.start}-${range.end}/${size}`, "content-length": length };
  return reply(bytes, { status: 206, headers: { ...headers, ...part } });
}

function toHeaders(file: FileRecord, as: Serving["as"]): OutgoingHttpHeaders {
  const type = String(file.meta.content_type ?? "application/octet-stream");
  const inline =
    as === "page"
      ? /^(text\/html|application\/xhtml\+xml)$/.test(type) || isShownInline(type)
      : as === "auto" && isShownInline(type);
  return {
    "content-type": type.startsWith("text/") ? `${type}; charset=utf-8` : type,
    "content-disposition": toDisposition(inline ? "inline" : "attachment", file.filename),
    "content-security-policy": inline && type === "application/pdf" ? pdfPolicy : sandbox,
    "x-content-type-options": "nosniff",
    "cross-origin-resource-policy": "same-origin",
    // Asked again each time, so that a right that was taken away counts at once; the tag saves the bytes.
    "cache-control": "private, no-cache",
    "accept-ranges": "bytes",
  };
}

function matches(header: string | undefined, etag: string): boolean {
  return (
    header !== undefined &&
    header.split(",").some((tag) => tag.trim().replace(/^W\//, "") === etag || tag.trim() === "*")
  );
}
