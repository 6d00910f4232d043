import { createHash } from "node:crypto";
import { pipeline, Readable } from "node:stream";
import { createGzip } from "node:zlib";
import { Header, Parser, Pax, type ReadEntry } from "tar";
import { StorageError } from "../errors.ts";

/** One file of an archive. */
export interface Entry {
  readonly name: string;
  readonly size: number;
  readonly bytes: AsyncIterable<Uint8Array>;
}

/** Name, size and sum of an entry that was written or read. */
export interface Sealed {
  readonly name: string;
  readonly size: number;
  readonly sha256: string;
}

const blockBytes = 512;

/**
 * A gzipped tape archive of these entries, made while it is read; `last` gives the final entry from the sums of all
 * others. Breaks off when an entry is shorter or longer than it said.
 */
export function packArchive(
  entries: AsyncIterable<Entry>,
  last: (sealed: readonly Sealed[]) => { name: string; content: Buffer },
): Readable {
  const gzip = createGzip({ level: 6 });
  // Both ends of the pipeline carry the error to the reader.
  pipeline(Readable.from(pack(entries, last), { objectMode: false }), gzip, () => {});
  return gzip;
}

async function* pack(
  entries: AsyncIterable<Entry>,
  last: (sealed: readonly Sealed[]) => { name: string; content: Buffer },
): AsyncGenerator<Uint8Array> {
  const sealed: Sealed[] = [];
  for await (const entry of entries) {
    yield* packEntry(entry, (seal) => sealed.push(seal));
  }
  const { name, content } = last(sealed);
  yield* packEntry({ name, size: content.length, bytes: Readable.from([content]) }, () => {});
  yield Buffer.alloc(2 * blockBytes);
}

async function* packEntry(
  { name, size, bytes }: Entry,
  done: (sealed: Sealed) => void,
): AsyncGenerator<Uint8Array> {
  const fields = { path: name, size, mode: 0o600, mtime: new Date(0), type: "File" } as const;
  const header = new Header({ ...fields });
  if (header.encode()) {
    yield new Pax({ path: name, size }).encode();
  }
  yield header.block as Buffer;
  const hash = createHash("sha256");
  let written = 0;
  for await (const piece of bytes) {
    hash.update(piece);
    written += piece.length;
    yield piece;
  }
  if (written !== size) {
    throw new StorageError(`${name} has changed while it was copied`);
  }
  yield Buffer.alloc((blockBytes - (size % blockBytes)) % blockBytes);
  done({ name, size, sha256: hash.digest("hex") });
}

/** The entries of an archive, in its order; each is read to its end before the next. Throws StorageError for another file. */
export async function* readArchive(source: Readable): AsyncGenerator<Entry> {
  // Rows resemble each other far more than what a limit against bombs expects; sizes are checked against the manifest.
  const parser = new Parser({ strict: true, maxDecompressionRatio: Number.POSITIVE_INFINITY });
  const entries: ReadEntry[] = [];
  let current: ReadEntry | undefined;
  let wake = () => {};
  let failure: Error | undefined;
  let isOver = false;
  const changed = () => wake();
  parser.on("entry", (entry: ReadEntry) => {
    entries.push(entry);
    changed();
  });
  const end = (error?: Error) => {
    failure ??= error;
    isOver = true;
    if (error !== undefined) {
      // Its reader would wait for the rest.
      current?.destroy(error);
    }
    changed();
  };
  parser.on("error", end);
  parser.on("end", () => end());
  source.on("error", end);
  source.pipe(parser as unknown as NodeJS.WritableStream);
  try {
    for (;;) {
      current = failure === undefined ? entries.shift() : undefined;
      if (current !== undefined) {
        yield { name: current.path, size: current.size, bytes: readEntry(current) };
      } else if (failure !== undefined) {
        throw toArchiveError(failure);
      } else if (isOver) {
        return;
      } else {
        await new Promise<void>((resolve) => (wake = resolve));
      }
    }
  } finally {
    source.destroy();
  }
}

async function* readEntry(entry: ReadEntry): AsyncGenerator<Uint8Array> {
  try {
    yield* entry as unknown as AsyncIterable<Uint8Array>;
  } catch (error) {
    throw toArchiveError(error as Error);
  }
}

function toArchiveError(error: Error): StorageError {
  return new StorageError(`The file is no whole backup: ${error.message}`, { cause: error });
}
