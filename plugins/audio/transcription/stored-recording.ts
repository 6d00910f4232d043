import { createWriteStream } from "node:fs";
import { mkdtemp, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { AppError } from "#kernel/errors.ts";
import { containerHead } from "../container.ts";

/** A recording in a folder of its own. Whoever has it calls `remove`. */
export interface StoredRecording {
  readonly folder: string;
  readonly path: string;
  readonly size: number;
  readonly head: Buffer;
  remove(): Promise<void>;
}

interface Limits {
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

/** Stores a stream. Throws `too_large` beyond the limit and `invalid` for no bytes at all; nothing stays behind then. */
export async function storeRecording(stream: Readable, limits: Limits): Promise<StoredRecording> {
  const folder = await mkdtemp(join(tmpdir(), "millrace-audio-"));
  const remove = () => rm(folder, { recursive: true, force: true });
  try {
    const path = join(folder, "recording");
    const size = await write(stream, path, limits);
    if (size === 0) {
      throw new AppError("invalid", "The recording is empty.");
    }
    return { folder, path, size, head: await readHead(path), remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

async function write(stream: Readable, path: string, { maxBytes, signal }: Limits): Promise<number> {
  let size = 0;
  const count = async function* (pieces: AsyncIterable<Buffer>) {
    for await (const piece of pieces) {
      size += piece.length;
      if (size > maxBytes) {
        throw toTooLarge(maxBytes);
      }
      yield piece;
    }
  };
  await pipeline(stream, count, createWriteStream(path), { signal });
  return size;
}

/** Tells the limit in megabytes, as administrators set it. */
function toTooLarge(maxBytes: number): AppError {
  const megabytes = Math.floor(maxBytes / (1024 * 1024));
  return new AppError("too_large", `Recordings may have at most ${megabytes} MB here (AUDIO_STT_MAX_SIZE).`);
}

async function readHead(path: string): Promise<Buffer> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(containerHead), 0, containerHead, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}
