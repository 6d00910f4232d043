import { lookup } from "mrmime";
import { type Reply, reply, type RequestInfo } from "#kernel/http/route.ts";
import { toEtag } from "./built-interface.ts";
import { filePolicy } from "./policy.ts";

export const javascript = "text/javascript; charset=utf-8";
export const html = "text/html; charset=utf-8";

/** A file of the interface: browsers keep it and ask each time whether it is still the same. */
export interface Asset {
  readonly bytes: Buffer;
  readonly type: string;
  readonly policy?: string;
  readonly status?: number;
  /** Beside those of every file. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Answers the file, or 304 when the browser has it. */
export function replyAsset(
  request: RequestInfo,
  { bytes, type, policy = filePolicy, status = 200, headers: further = {} }: Asset,
): Reply {
  // Chromium keeps the policy of the stored answer when it gets 304, so a changed policy has to change the tag.
  const etag = toEtag(bytes, policy);
  const headers = {
    "content-type": type,
    "content-security-policy": policy,
    "referrer-policy": "same-origin",
    "cache-control": "no-cache",
    etag,
    ...further,
  };
  return request.headers["if-none-match"] === etag && status === 200
    ? reply(undefined, { status: 304, headers })
    : reply(bytes, { status, headers });
}

export function toContentType(name: string): string {
  const type = lookup(name) ?? "application/octet-stream";
  return /^text\/|javascript|json/.test(type) ? `${type}; charset=utf-8` : type;
}
