import { parseJson } from "#kernel/http/json.ts";
import type { Json } from "#kernel/sandbox/sandbox.ts";

/** One event of a channel: an item of the answer, its end, or nothing yet. */
export type Frame = { readonly item: Json } | "end" | undefined;

const prefix = "data:";
/** Longest line that may arrive in pieces. */
const maxLine = 4 * 1024 * 1024;

/**
 * Reads what clients emit on a channel: lines of the upstream's event stream as they read them, chunk objects, and
 * `{done: true}` at the end. A line that was cut where the network cut it is put together again.
 */
export function createFrameReader(): (data: unknown) => Frame {
  let begun = "";
  return (data) => {
    if (typeof data !== "string") {
      return toFrame(data);
    }
    const joined = begun + data;
    // A text that is cut may go on with this very prefix.
    const isNew = data.startsWith(prefix) && parse(joined.slice(prefix.length)) === undefined;
    const line = isNew ? data : joined;
    begun = "";
    if (!line.startsWith(prefix)) {
      begun = prefix.startsWith(line) ? line : "";
      // Blank lines, comments and names of events say nothing.
      return line.startsWith("{") ? toFrame(parse(line)) : undefined;
    }
    const text = line.slice(prefix.length).trim();
    if (text === "[DONE]") {
      return undefined;
    }
    const value = parse(text);
    if (value === undefined && line.length <= maxLine) {
      begun = line;
    }
    return toFrame(value);
  };
}

function toFrame(value: unknown): Frame {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return undefined;
  }
  return (value as { done?: unknown }).done === true ? "end" : { item: value as Json };
}

function parse(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}
