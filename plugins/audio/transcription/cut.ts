import { type FileHandle, open } from "node:fs/promises";
import { readAt, type WavFile, type WavRange } from "./wav.ts";

/** Seconds before the end of a piece in which a silence is looked for. */
const searchSeconds = 30;
/** Seconds of the frames whose loudness is compared. */
const frameSeconds = 0.1;

/**
 * Cuts samples into pieces of at most `mostBytes`, each at the quietest moment before that, so that no word is torn
 * apart. Samples of other kinds than 16-bit PCM are cut by time.
 */
export async function cutAtSilences(wav: WavFile, mostBytes: number): Promise<WavRange[]> {
  const most = Math.max(wav.blockBytes, mostBytes - (mostBytes % wav.blockBytes));
  const last = wav.dataStart + wav.dataBytes;
  const ranges: WavRange[] = [];
  const file = await open(wav.path);
  try {
    let start = wav.dataStart;
    while (last - start > most) {
      const end = await findQuietest(file, wav, { start, end: start + most });
      ranges.push({ start, end });
      start = end;
    }
    return [...ranges, { start, end: last }];
  } finally {
    await file.close();
  }
}

/** The middle of the quietest frame in the last part of a range; its end where samples cannot be compared. */
async function findQuietest(file: FileHandle, wav: WavFile, { start, end }: WavRange): Promise<number> {
  const isComparable = wav.format.readUInt16LE(0) === 1 && wav.format.readUInt16LE(14) === 16;
  const toBlocks = (bytes: number) => bytes - (bytes % wav.blockBytes);
  const frame = toBlocks(Math.ceil(wav.bytesPerSecond * frameSeconds));
  const search = toBlocks(Math.min((end - start) / 2, wav.bytesPerSecond * searchSeconds));
  if (!isComparable || frame === 0 || search < 2 * frame) {
    return end;
  }
  const samples = await readAt(file, end - search, search);
  let quietest = { at: samples.length - frame, energy: Number.POSITIVE_INFINITY };
  for (let at = samples.length - frame; at >= 0; at -= frame) {
    const energy = measure(samples, at, at + frame);
    if (energy < quietest.energy) {
      quietest = { at, energy };
    }
  }
  return end - search + quietest.at + toBlocks(frame / 2);
}

function measure(samples: Buffer, start: number, end: number): number {
  let energy = 0;
  for (let at = start; at + 1 < end; at += 2) {
    const sample = samples.readInt16LE(at);
    energy += sample * sample;
  }
  return energy;
}
