import { randomBytes } from "node:crypto";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from "node:zlib";
import { expect, it } from "vitest";
import { createCompressor, gzip } from "./compress-stream.ts";

const megabyte = 1024 * 1024;
const piece = Buffer.from('{"name":"value"},'.repeat(megabyte)).subarray(0, megabyte);

async function pack(pieces: readonly Buffer[], isBehind: () => boolean): Promise<Buffer> {
  const steps: Buffer[] = [];
  for await (const step of gzip(Readable.from(pieces.map((each) => [each])), async () => isBehind())) {
    steps.push(...step);
  }
  return Buffer.concat(steps);
}

it.each([
  ["zstd", zstdDecompressSync],
  ["br", brotliDecompressSync],
] as const)("makes what passes smaller: %s", async (encoding, decompress) => {
  const body = Readable.from([piece.subarray(0, 7), piece.subarray(7)]);
  const packed = await buffer(body.pipe(createCompressor(encoding)));
  expect(packed.length).toBeLessThan(megabyte / 10);
  expect(decompress(packed).equals(piece)).toBe(true);
});

it.each([
  ["nothing", []],
  ["a byte", [Buffer.from("a")]],
  ["two pieces", [piece.subarray(0, 7), piece.subarray(7)]],
  ["many small pieces", Array.from({ length: 10_000 }, (_, at) => Buffer.from(`${at},`))],
])("makes what passes smaller: gzip of %s", async (_, pieces) => {
  const whole = Buffer.concat(pieces);
  const packed = await pack(pieces, () => false);
  expect(packed.length).toBeLessThan(Math.max(40, whole.length));
  expect(gunzipSync(packed).equals(whole)).toBe(true);
});

it("compresses a long body as long as its reader has something left to take", async () => {
  const pieces = Array<Buffer>(40).fill(piece);
  let asked = 0;
  const slow = await pack(pieces, () => true);
  const fast = await pack(pieces, () => false);
  // Behind once: it is tried again after a while.
  const mixed = await pack(pieces, () => (asked += 1) === 11);
  expect(slow.length).toBeLessThan(megabyte);
  expect(fast.length / megabyte).toBeCloseTo(38, 0);
  expect(mixed.length / megabyte).toBeCloseTo(38 - 3, 0);
  for (const packed of [slow, fast, mixed]) {
    expect(gunzipSync(packed).equals(Buffer.concat(pieces))).toBe(true);
  }
});

it("passes pieces of every size on as they are", async () => {
  const sizes = [0, 1, 65_534, 65_535, 65_536, 131_070, 131_071, 300_000];
  const pieces = [piece, piece, piece, ...sizes.map((size) => randomBytes(size))];
  const packed = await pack(pieces, () => false);
  expect(gunzipSync(packed).equals(Buffer.concat(pieces))).toBe(true);
});
