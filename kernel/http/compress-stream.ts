import type { Transform } from "node:stream";
import { promisify } from "node:util";
import * as zlib from "node:zlib";

/** Bytes after which a reader that keeps up shows that it has no need of compression. */
const tried = 2 * 1024 * 1024;

/**
 * Steps until a reader that was behind is tried again, more each time: one that reads slowly always has time for a step
 * that compression made small.
 */
const longestPatience = 16;

/** Less than that is not worth a turn of zlib's threads. */
const packedAtOnce = 256 * 1024;

/**
 * Gzip (RFC 1952) of a body as it passes to its reader: buffers for one write each step. What is sent piece by piece is
 * large, and somebody waits for its end: the quickest level takes half the time for a fifth more bytes. Even that
 * is slower than a reader on the same machine or network: a long body that is read faster than it can be compressed
 * goes on as it is, in the same format and without a copy. `isBehind` says whether the reader still has something left to
 * take after some milliseconds, as many as compressing takes.
 */
export async function* gzip(
  body: AsyncIterable<readonly Buffer[]>,
  isBehind: (ms: number) => Promise<boolean>,
): AsyncGenerator<readonly Buffer[]> {
  let [sum, length] = [0, 0];
  let [patience, untried] = [1, 0];
  let msPerByte = 0;
  yield [Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255])];
  for await (const { pieces, size } of gathered(body)) {
    const isTried = length >= tried && untried === 0;
    const isStored = isTried && !(await isBehind(size * msPerByte));
    if (isTried && !isStored) {
      patience = untried = Math.min(2 * patience, longestPatience);
    } else {
      untried = Math.max(0, untried - 1);
    }
    for (const piece of pieces) {
      sum = zlib.crc32(piece, sum);
    }
    length += size;
    if (isStored) {
      yield toStored(pieces);
    } else {
      const started = performance.now();
      yield [await deflate(Buffer.concat(pieces), deflated)];
      msPerByte = (performance.now() - started) / size;
    }
  }
  const end = Buffer.from([...lastBlock, 0, 0, 0, 0, 0, 0, 0, 0]);
  end.writeUInt32LE(sum, 2);
  end.writeUInt32LE(length % 2 ** 32, 6);
  yield [end];
}

/** For the other encodings, which cannot change their level on the way. */
export function createCompressor(encoding: "br" | "zstd"): Transform {
  return encoding === "br"
    ? zlib.createBrotliCompress({ chunkSize, params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 0 } })
    : zlib.createZstdCompress({ chunkSize, params: { [zlib.constants.ZSTD_c_compressionLevel]: 1 } });
}

/** The usual sixteen kilobytes would mean thousands of turns of zlib's threads. */
const chunkSize = 256 * 1024;

const deflate = promisify<zlib.InputType, zlib.ZlibOptions, Buffer>(zlib.deflateRaw);
/** Ends on a whole byte and leaves the format open, so that what follows can be made in any way. */
const deflated: zlib.ZlibOptions = { level: 1, finishFlush: zlib.constants.Z_SYNC_FLUSH, chunkSize };

/** An empty block that says it is the last one (RFC 1951, 3.2.6). */
const lastBlock = [3, 0];

async function* gathered(
  body: AsyncIterable<readonly Buffer[]>,
): AsyncGenerator<{ pieces: Buffer[]; size: number }> {
  let [pieces, size]: [Buffer[], number] = [[], 0];
  for await (const step of body) {
    for (const piece of step) {
      pieces.push(piece);
      size += piece.length;
    }
    if (size >= packedAtOnce) {
      yield { pieces, size };
      [pieces, size] = [[], 0];
    }
  }
  if (size > 0) {
    yield { pieces, size };
  }
}

/** The bytes as they are, in blocks that say so (RFC 1951, 3.2.4). */
function toStored(pieces: readonly Buffer[]): Buffer[] {
  const blocks: Buffer[] = [];
  let [block, size]: [Buffer[], number] = [[], 0];
  const close = () => {
    const head = Buffer.alloc(5);
    head.writeUInt16LE(size, 1);
    head.writeUInt16LE(size ^ mostStored, 3);
    blocks.push(head, ...block);
    [block, size] = [[], 0];
  };
  for (const piece of pieces) {
    for (let from = 0; from < piece.length;) {
      const part = piece.subarray(from, from + mostStored - size);
      block.push(part);
      size += part.length;
      from += part.length;
      if (size === mostStored) {
        close();
      }
    }
  }
  if (size > 0) {
    close();
  }
  return blocks;
}

/** A block's length has sixteen bits. */
const mostStored = 0xffff;
