import { createHash, randomUUID } from "node:crypto";
import { mkdir, open, readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Readable } from "node:stream";

/** A complete file under a temporary name. */
export interface Received {
  readonly path: string;
  readonly size: number;
  readonly sha256: string;
}

/** Writes a stream to a new file in `folder` and to the disk; when that fails the file is removed. */
export async function receive(
  folder: string,
  bytes: AsyncIterable<Uint8Array> | Readable,
  signal?: AbortSignal,
): Promise<Received> {
  signal?.throwIfAborted();
  await mkdir(folder, { recursive: true });
  const path = join(folder, randomUUID());
  try {
    return await copy(path, bytes, signal);
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  }
}

/** Removes files that were not written to for `maxAgeMs`; resolves to their number. */
export async function sweep(folder: string, maxAgeMs: number): Promise<number> {
  const names = await readdir(folder).catch(() => []);
  let removed = 0;
  for (const name of names) {
    const path = join(folder, name);
    const entry = await stat(path).catch(() => undefined);
    if (entry?.isFile() && Date.now() - entry.mtimeMs >= maxAgeMs) {
      await rm(path, { force: true });
      removed += 1;
    }
  }
  return removed;
}

async function copy(
  path: string,
  bytes: AsyncIterable<Uint8Array> | Readable,
  signal?: AbortSignal,
): Promise<Received> {
  const hash = createHash("sha256");
  let size = 0;
  const file = await open(path, "wx");
  try {
    for await (const chunk of untilAborted(bytes, signal)) {
      hash.update(chunk);
      size += chunk.length;
      await file.appendFile(chunk);
    }
    await file.sync();
  } finally {
    await file.close();
  }
  signal?.throwIfAborted();
  return { path, size, sha256: hash.digest("hex") };
}

/** The chunks of a stream; an abort ends even the wait for the next one, and tells the source. */
async function* untilAborted(
  bytes: AsyncIterable<Uint8Array>,
  signal?: AbortSignal,
): AsyncGenerator<Uint8Array> {
  if (!signal) {
    yield* bytes;
    return;
  }
  const source = bytes[Symbol.asyncIterator]();
  const aborted = Promise.withResolvers<never>();
  aborted.promise.catch(() => {});
  const abort = () => aborted.reject(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  try {
    for (;;) {
      const next = await Promise.race([source.next(), aborted.promise]);
      if (next.done) {
        return;
      }
      yield next.value;
    }
  } finally {
    signal.removeEventListener("abort", abort);
    // Not awaited: a source that waits for its next chunk answers only when that has come.
    void Promise.resolve(source.return?.()).catch(() => {});
    if ("destroy" in bytes) {
      (bytes as Readable).destroy();
    }
  }
}
