import type { Egress } from "#kernel/egress/egress.ts";
import { AppError } from "#kernel/errors.ts";

/** Gives the base64 of an image that a message names by its address. */
export type ReadImage = (url: string, field: string) => Promise<string> | string;

const largestImage = 20 * 1024 * 1024;
const fetchTimeLimit = 30_000;

/**
 * Reads images of messages: data URIs as they stand, other addresses over the guarded client, since whoever wrote the
 * message chose them (promise S73). Throws `invalid` naming the field for what is no image.
 */
export function createImageReader(egress: Egress, signal: AbortSignal): ReadImage {
  const reads = new Map<string, Promise<string>>();
  return (url, field) => {
    if (/^data:/i.test(url)) {
      return fromDataUri(url, field);
    }
    if (!/^https?:\/\//i.test(url)) {
      throw new AppError("invalid", `${field}: must be a data URI or an http or https address.`);
    }
    const read = reads.get(url) ?? fetchImage(egress, { url, field, signal });
    reads.set(url, read);
    return read;
  };
}

function fromDataUri(url: string, field: string): string {
  const comma = url.indexOf(",");
  const head = url.slice("data:".length, Math.max(comma, 0)).toLowerCase();
  const base64 = url.slice(comma + 1);
  if (!head.startsWith("image/") || !head.endsWith(";base64") || !/^[\w+/=-]+$/.test(base64)) {
    throw new AppError("invalid", `${field}: must be an image in base64.`);
  }
  return base64;
}

async function fetchImage(
  egress: Egress,
  { url, field, signal }: { url: string; field: string; signal: AbortSignal },
): Promise<string> {
  try {
    const response = await egress.fetch(url, {
      trust: "user",
      signal,
      timeoutMs: fetchTimeLimit,
      maxBytes: largestImage,
    });
    if (!response.ok || !/^image\//i.test(response.headers.get("content-type") ?? "")) {
      await response.body?.cancel();
      throw new AppError("upstream", response.ok ? "is no image" : `answers ${response.status}`);
    }
    return Buffer.from(await response.arrayBuffer()).toString("base64");
  } catch (error) {
    signal.throwIfAborted();
    const reason = error instanceof AppError ? error.message.replace(/\.$/, "") : "cannot be read";
    throw new AppError("invalid", `${field}: the image cannot be used (${reason}).`, { cause: error });
  }
}
