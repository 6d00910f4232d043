import { createHash } from "node:crypto";
import { type Reply, reply, type RequestInfo } from "#kernel/http/route.ts";

/** No inline script, nothing from elsewhere, no framing. */
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

export const javascript = "text/javascript; charset=utf-8";

/** A file of the interface: browsers keep it and ask each time whether it is still the same. */
export interface Asset {
  readonly bytes: Buffer;
  readonly etag: string;
  readonly headers: Readonly<Record<string, string>>;
}

export function toAsset(bytes: Buffer, contentType: string): Asset {
  const etag = `"${createHash("sha256").update(bytes).digest("base64url").slice(0, 22)}"`;
  const headers = {
    "content-type": contentType,
    "content-security-policy": policy,
    "referrer-policy": "same-origin",
    "cache-control": "no-cache",
    etag,
  };
  return { bytes, etag, headers };
}

/** Answers the file, or 304 when the browser has it. */
export function replyAsset(request: RequestInfo, { bytes, etag, headers }: Asset): Reply {
  return request.headers["if-none-match"] === etag
    ? reply(undefined, { status: 304, headers })
    : reply(bytes, { headers });
}
