import type { Readable } from "node:stream";
import type { ChunkBatch } from "#kernel/completion/provider.ts";
import type { Pushable } from "#kernel/completion/push.ts";
import { readStream } from "#kernel/upstream/chunk-reader.ts";
import { ChunkParser, type ChunkParserOptions } from "./chunk-parser.ts";

export interface ChunkStreamOptions extends ChunkParserOptions {
  readonly signal: AbortSignal;
  readonly atLeast?: number | undefined;
}

/** Reads a body of Server-Sent Events as chunks, at most 64 events a batch. */
export function readChunks(body: Readable, options: ChunkStreamOptions): Pushable<ChunkBatch> {
  const { signal, atLeast } = options;
  return readStream(body, { parser: new ChunkParser(options), signal, atLeast });
}
