import type { Readable, Transform, Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { promisify } from "node:util";
import * as zlib from "node:zlib";
import type { Encoding } from "./compress.ts";

/** Bytes after which a reader that keeps up shows that it has no need of compression. */
const tried = 2 * 1024 * 1024;

/**
 * Compresses a body as it passes to its reader. What is sent piece by piece is large, and somebody waits for its end: the
 * quickest levels take half the time or less for a fifth more bytes. Even those are slower than a reader on the same
 * machine or network: a long body that is read faster than it can be compressed goes on as it is, in the same format.
 * `isBehind` says whether the reader has something left to take.
 */
export async function sendCompressed(
  encoding: Encoding,
  body: Readable,
  { to, isBehind }: { readonly to: Writable; isBehind(): boolean },
): Promise<void> {
  if (encoding !== "gzip") {
    return await pipeline(body, encoding === "br" ? createBrotli() : createZstd(), to);
  }
  // What node offers as gzip cannot change its level; what is inside of gzip can.
  const deflate = zlib.createDeflateRaw({ level: 1, chunkSize });
  const sum = { crc: 0, length: 0 };
  return await pipeline(
    body,
    (pieces: AsyncIterable<Buffer>) => paced(pieces, { deflate, sum, isBehind }),
    deflate,
    (packed: AsyncIterable<Buffer>) => framed(packed, sum),
    to,
  );
}

/** Of everything that was sent. */
interface Sum {
  crc: number;
  length: number;
}

async function* paced(
  pieces: AsyncIterable<Buffer>,
  { deflate, sum, isBehind }: { deflate: zlib.DeflateRaw; sum: Sum; isBehind(): boolean },
): AsyncGenerator<Buffer> {
  const setLevel = promisify(deflate.params.bind(deflate));
  let level = 1;
  for await (const piece of pieces) {
    const wanted = sum.length >= tried && !isBehind() ? 0 : 1;
    if (wanted !== level) {
      await setLevel(wanted, zlib.constants.Z_DEFAULT_STRATEGY);
      level = wanted;
    }
    sum.crc = zlib.crc32(piece, sum.crc);
    sum.length += piece.length;
    yield piece;
  }
}

/** RFC 1952: ten bytes before, and a check of the content behind. */
async function* framed(packed: AsyncIterable<Buffer>, sum: Sum): AsyncGenerator<Buffer> {
  yield Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255]);
  yield* packed;
  const end = Buffer.alloc(8);
  end.writeUInt32LE(sum.crc, 0);
  end.writeUInt32LE(sum.length % 2 ** 32, 4);
  yield end;
}

/** The usual sixteen kilobytes would mean thousands of turns of zlib's threads. */
const chunkSize = 256 * 1024;

function createBrotli(): Transform {
  return zlib.createBrotliCompress({ chunkSize, params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 0 } });
}

function createZstd(): Transform {
  return zlib.createZstdCompress({ chunkSize, params: { [zlib.constants.ZSTD_c_compressionLevel]: 1 } });
}
