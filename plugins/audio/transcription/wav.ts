import { type FileHandle, open } from "node:fs/promises";
import { AppError } from "#kernel/errors.ts";

/** A WAV file whose samples can be cut. Places and sizes in bytes. */
export interface WavFile {
  readonly path: string;
  /** The `fmt ` chunk without its head. */
  readonly format: Buffer;
  readonly dataStart: number;
  readonly dataBytes: number;
  readonly blockBytes: number;
  readonly bytesPerSecond: number;
  readonly seconds: number;
}

/** Bytes within a WAV file, of whole sample blocks: `end` is excluded. */
export interface WavRange {
  readonly start: number;
  readonly end: number;
}

/** Formats whose blocks stand for themselves: PCM, floating point, A-law, µ-law, and their extensible form. */
const cuttable = new Set([1, 3, 6, 7, 0xfffe]);
/** Chunks that are looked through for the samples. */
const mostChunks = 64;

/** Reads the head of a WAV file; undefined for a format that cannot be cut. Throws `invalid` for a broken head. */
export async function readWav(path: string): Promise<WavFile | undefined> {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    const found = await findChunks(file, size);
    const { format, data } = found;
    if (format === undefined || data === undefined) {
      throw new AppError("invalid", "file: is a WAV file without samples, or broken.");
    }
    const [code, blockBytes] = [format.readUInt16LE(0), format.readUInt16LE(12)];
    const bytesPerSecond = format.readUInt32LE(8);
    if (!cuttable.has(code) || blockBytes === 0 || bytesPerSecond === 0) {
      return undefined;
    }
    const dataBytes = data.bytes - (data.bytes % blockBytes);
    return {
      path,
      format,
      blockBytes,
      bytesPerSecond,
      dataBytes,
      dataStart: data.start,
      seconds: dataBytes / bytesPerSecond,
    };
  } finally {
    await file.close();
  }
}

interface Chunks {
  format?: Buffer;
  data?: { readonly start: number; readonly bytes: number };
}

async function findChunks(file: FileHandle, size: number): Promise<Chunks> {
  const chunks: Chunks = {};
  let at = 12;
  for (let count = 0; count < mostChunks && at + 8 <= size; count += 1) {
    const head = await readAt(file, at, 8);
    const [name, bytes] = [head.toString("latin1", 0, 4), head.readUInt32LE(4)];
    if (name === "fmt " && bytes >= 16 && bytes <= 256) {
      const format = await readAt(file, at + 8, bytes);
      if (format.length === bytes) {
        chunks.format = format;
      }
    }
    if (name === "data") {
      // Writers of streams do not know the size and leave 0 or the largest number.
      const isOpen = bytes === 0 || at + 8 + bytes > size;
      chunks.data = { start: at + 8, bytes: isOpen ? size - at - 8 : bytes };
      return chunks;
    }
    at += 8 + bytes + (bytes % 2);
  }
  return chunks;
}

/** The piece as a WAV file of its own. */
export async function readPiece(wav: WavFile, { start, end }: WavRange): Promise<Uint8Array<ArrayBuffer>> {
  const file = await open(wav.path);
  try {
    const samples = await readAt(file, start, end - start);
    const head = Buffer.alloc(20);
    head.write("RIFF", 0);
    head.writeUInt32LE(20 + wav.format.length + samples.length, 4);
    head.write("WAVEfmt ", 8);
    head.writeUInt32LE(wav.format.length, 16);
    const dataHead = Buffer.alloc(8);
    dataHead.write("data", 0);
    dataHead.writeUInt32LE(samples.length, 4);
    return new Uint8Array(Buffer.concat([head, wav.format, dataHead, samples]));
  } finally {
    await file.close();
  }
}

/** Bytes that the head of a piece takes at most. */
export const pieceHeadBytes = 512;

export async function readAt(file: FileHandle, at: number, bytes: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(bytes), 0, bytes, at);
  return buffer.subarray(0, bytesRead);
}
