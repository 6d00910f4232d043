import { AppError } from "#kernel/errors.ts";
import type { Terminal } from "../connections/schema.ts";

/** Below which a terminal's own paths stand. */
export const proxyBase = "/api/v1/terminals/";

/** A path on a terminal server that was looked at. */
export interface CheckedPath {
  /** Decoded. */
  readonly segments: readonly string[];
  /** As the server gets it, without a leading slash. */
  readonly text: string;
  /** With its question mark, or empty. */
  readonly search: string;
}

/**
 * The path behind `/api/v1/terminals/<id>/` as the client wrote it. Throws `invalid` for everything that two readers
 * could take for different places: dot segments, separators and control characters in a segment, however often encoded,
 * and empty segments, with which an address of another server would begin.
 */
export function readPath(url: string, id: string): CheckedPath {
  const [path = "", ...query] = url.split("?");
  const own = path.startsWith(proxyBase) ? path.slice(proxyBase.length) : "";
  const slash = own.indexOf("/");
  if (slash < 0 || decode(own.slice(0, slash)) !== id) {
    throw refusal();
  }
  const raw = own.slice(slash + 1).split("/");
  const isFolder = raw.length > 1 && raw.at(-1) === "";
  const segments = (isFolder ? raw.slice(0, -1) : raw).map(toSegment);
  const text = segments.map(encodeURIComponent).join("/") + (isFolder ? "/" : "");
  return { segments, text, search: query.length === 0 ? "" : `?${query.join("?")}` };
}

/** The address of a path on the server, which it never leaves. */
export function toAddress(terminal: Terminal, text: string, search = ""): URL {
  const policy = terminal.policyId === undefined ? "" : `/p/${encodeURIComponent(terminal.policyId)}`;
  const base = new URL(`${terminal.url}${policy}/`);
  const address = new URL(base);
  address.pathname = base.pathname + text;
  address.search = search;
  if (address.origin !== base.origin || !address.pathname.startsWith(base.pathname)) {
    throw refusal();
  }
  return address;
}

function toSegment(raw: string): string {
  const segment = decode(raw);
  const innermost = decodeFully(segment);
  if (innermost === undefined || /^(?:\.{1,2})?$|[/\\\p{Cc}]/u.test(innermost)) {
    throw refusal();
  }
  return segment;
}

/** A server behind another one may decode a second time. */
function decodeFully(text: string): string | undefined {
  let now = text;
  for (let round = 0; round < 4; round += 1) {
    if (!/%[0-9a-f]{2}/i.test(now)) {
      return now;
    }
    try {
      now = decodeURIComponent(now);
    } catch {
      // A percent sign of a name, such as `100%25`, stands for itself.
      return now;
    }
  }
  return undefined;
}

function decode(raw: string): string {
  try {
    return decodeURIComponent(raw);
  } catch {
    throw refusal();
  }
}

const refusal = () => new AppError("invalid", "The path cannot be passed on to a terminal server.");
