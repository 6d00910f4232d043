import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { toneWav, wavHead } from "../audio.fixture.ts";
import { cutAtSilences } from "./cut.ts";
import { readPiece, readWav, type WavFile } from "./wav.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "wav-"));
});
afterAll(() => rm(folder, { recursive: true }));

let count = 0;
const store = async (bytes: Uint8Array) => {
  const path = join(folder, `${(count += 1)}.wav`);
  await writeFile(path, bytes);
  return path;
};
const read = async (bytes: Uint8Array) => (await readWav(await store(bytes))) as WavFile;

it("a recording is cut where it is silent, and its pieces hold every sample once", async () => {
  const bytes = toneWav(20);
  const wav = await read(bytes);
  expect([wav.seconds, wav.bytesPerSecond, wav.blockBytes]).toEqual([20, 16_000, 2]);
  const ranges = await cutAtSilences(wav, 6.7 * 16_000);
  expect(ranges.length).toBeGreaterThan(2);
  const samples: Buffer[] = [];
  for (const range of ranges) {
    const piece = Buffer.from(await readPiece(wav, range));
    expect(piece.length).toBeLessThanOrEqual(6.7 * 16_000 + 512);
    expect((await read(piece)).dataBytes).toBe(range.end - range.start);
    samples.push(piece.subarray(44));
  }
  expect(Buffer.concat(samples)).toEqual(bytes.subarray(44));
  // Odd seconds are silent.
  for (const { end } of ranges.slice(0, -1)) {
    expect(Math.floor((end - wav.dataStart) / 16_000) % 2).toBe(1);
  }
});

it("samples that cannot be compared are cut by time, at whole blocks", async () => {
  const bytes = toneWav(10);
  bytes.writeUInt16LE(3, 20);
  bytes.writeUInt16LE(6, 32);
  const wav = await read(bytes);
  const ranges = await cutAtSilences(wav, 50_001);
  expect(ranges.slice(0, -1).every(({ start, end }) => end - start === 49_998)).toBe(true);
  expect(ranges.at(-1)!.end).toBe(wav.dataStart + wav.dataBytes);
});

it("heads with other chunks, open ends and wrong sizes are read", async () => {
  const [head, samples] = [wavHead({ rate: 8_000, bytes: 0 }), Buffer.alloc(1_001)];
  const list = Buffer.concat([Buffer.from("LIST"), Buffer.from([3, 0, 0, 0]), Buffer.from("abc\0")]);
  const withList = Buffer.concat([head.subarray(0, 36), list, head.subarray(36), samples]);
  expect((await read(withList)).dataBytes).toBe(1_000);
  const endless = Buffer.concat([head, samples]);
  endless.writeUInt32LE(0xffffffff, 40);
  expect((await read(endless)).dataBytes).toBe(1_000);
});

it("broken heads are refused, and packed samples are not cut", async () => {
  await expect(read(Buffer.from("RIFF\0\0\0\0WAVE"))).rejects.toMatchObject({ code: "invalid" });
  await expect(read(toneWav(1).subarray(0, 30))).rejects.toMatchObject({ code: "invalid" });
  const packed = toneWav(1);
  packed.writeUInt16LE(0x11, 20);
  expect(await read(packed)).toBeUndefined();
});
