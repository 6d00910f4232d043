import type { Chunk } from "#kernel/completion/chunk.ts";
import { type ChunkNormalizer, isObject } from "#kernel/completion/normalize-chunk.ts";
import { ProviderError } from "#kernel/errors.ts";
import type { SseEvent } from "#kernel/upstream/sse-parser.ts";

/**
 * The chunks of one event: usually one, none for a frame that is broken or of no known kind (nothing but typed
 * deltas gets through). Throws ProviderError for a frame that reports an error.
 */
export function toChunks({ data, name }: SseEvent, normalizer: ChunkNormalizer): Chunk[] | "broken" {
  const values = parseData(data);
  if (values === undefined) {
    return "broken";
  }
  const chunks: Chunk[] = [];
  for (const value of values) {
    requireNoError(value, name);
    const chunk = toChunk(value, normalizer);
    if (chunk) {
      chunks.push(chunk);
    }
  }
  return chunks;
}

/** The error of a frame or of a body that came with status 200. Throws ProviderError when there is one. */
export function requireNoError(value: unknown, eventName = ""): void {
  if (!isObject(value)) {
    return;
  }
  const error = value.error ?? (eventName === "error" ? value : undefined);
  if (error === undefined || error === false || error === "") {
    return;
  }
  const body = JSON.stringify(value.error === undefined ? { error: value } : value);
  throw new ProviderError({ status: statusOf(error), body, contentType: "application/json", headers: {} });
}

/** A parsed frame as a chunk whose parts have the types the common wire gives them; undefined for another kind. */
function toChunk(value: unknown, normalizer: ChunkNormalizer): Chunk | undefined {
  if (!isObject(value)) {
    return undefined;
  }
  if (!Array.isArray(value.choices)) {
    // Some servers send usage without the empty choices that belong to it.
    return isObject(value.usage) ? ({ ...value, choices: [] } as Chunk) : undefined;
  }
  return normalizer.normalize(value);
}

/** The values of one event; servers that forget the blank line between events put several into one. */
function parseData(data: string): unknown[] | undefined {
  const whole = tryParse(data);
  if (whole !== undefined) {
    return [whole];
  }
  if (!data.includes("\n")) {
    return undefined;
  }
  const values = data
    .split("\n")
    .map(tryParse)
    .filter((value) => value !== undefined);
  return values.length > 0 ? values : undefined;
}

function tryParse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function statusOf(error: unknown): number {
  const candidates = isObject(error) ? [error.code, error.status, error.status_code] : [];
  const status = candidates.map(Number).find((code) => Number.isInteger(code) && code >= 400 && code <= 599);
  return status ?? 502;
}
