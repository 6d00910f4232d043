import { PassThrough, Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from "node:zlib";
import { expect, it } from "vitest";
import type { Encoding } from "./compress.ts";
import { sendCompressed } from "./compress-stream.ts";

const megabyte = 1024 * 1024;
const piece = Buffer.from('{"name":"value"},'.repeat(megabyte)).subarray(0, megabyte);

async function send(encoding: Encoding, pieces: readonly Buffer[], isBehind: () => boolean) {
  const to = new PassThrough();
  const [packed] = await Promise.all([
    buffer(to),
    sendCompressed(encoding, Readable.from(pieces), { to, isBehind }),
  ]);
  return packed;
}

it.each([
  ["zstd", zstdDecompressSync],
  ["br", brotliDecompressSync],
  ["gzip", gunzipSync],
] as const)("makes what passes smaller: %s", async (encoding, decompress) => {
  const packed = await send(encoding, [piece.subarray(0, 7), piece.subarray(7)], () => false);
  expect(packed.length).toBeLessThan(megabyte / 10);
  expect(decompress(packed).equals(piece)).toBe(true);
});

it("compresses a long body as long as its reader has something left to take", async () => {
  const pieces = Array<Buffer>(10).fill(piece);
  let asked = 0;
  const slow = await send("gzip", pieces, () => true);
  const fast = await send("gzip", pieces, () => false);
  const mixed = await send("gzip", pieces, () => (asked += 1) % 2 === 0);
  expect(slow.length).toBeLessThan(megabyte);
  expect(fast.length / megabyte).toBeCloseTo(8, 0);
  expect(mixed.length / megabyte).toBeCloseTo(4, 0);
  for (const packed of [slow, fast, mixed]) {
    expect(gunzipSync(packed).equals(Buffer.concat(pieces))).toBe(true);
  }
});
