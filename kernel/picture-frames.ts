import type { PictureType } from "./picture-type.ts";

/**
 * How many frames a picture has, read from its structure alone. Undefined when the structure is broken, or when a
 * frame is larger than the picture says it is: a decoder would allocate more than was checked.
 */
export function countFrames(bytes: Buffer, type: PictureType): number | undefined {
  try {
    return counters[type](bytes);
  } catch (error) {
    // Reading behind the end is what a picture that was cut off leads to.
    if (error instanceof RangeError) {
      return undefined;
    }
    throw error;
  }
}

const counters: Record<PictureType, (bytes: Buffer) => number | undefined> = {
  jpeg: () => 1,
  png: (bytes) => {
    for (let at = 8; at + 12 <= bytes.length; at += 12 + bytes.readUInt32BE(at)) {
      const kind = bytes.toString("latin1", at + 4, at + 8);
      if (kind === "acTL") {
        return bytes.readUInt32BE(at + 8);
      }
      if (kind === "IDAT") {
        return 1;
      }
    }
    return undefined;
  },
  webp: (bytes) => {
    let frames = 0;
    let pictures = 0;
    // Pieces have an even length; the size that stands in front does not count the byte that fills them up.
    for (let at = 12; at + 8 <= bytes.length;) {
      const kind = bytes.toString("latin1", at, at + 4);
      frames += Number(kind === "ANMF");
      pictures += Number(kind === "VP8 " || kind === "VP8L");
      const size = bytes.readUInt32LE(at + 4);
      at += 8 + size + (size % 2);
    }
    return frames > 0 ? frames : pictures === 1 ? 1 : undefined;
  },
  gif: countGifFrames,
};

function countGifFrames(bytes: Buffer): number | undefined {
  const [width, height] = [bytes.readUInt16LE(6), bytes.readUInt16LE(8)];
  let at = 13 + tableSize(bytes.readUInt8(10));
  for (let frames = 0; ;) {
    const kind = bytes.readUInt8(at);
    if (kind === 0x3b) {
      return frames > 0 ? frames : undefined;
    }
    if (kind === 0x21) {
      at = skipBlocks(bytes, at + 2);
      continue;
    }
    const isInside =
      kind === 0x2c &&
      bytes.readUInt16LE(at + 1) + bytes.readUInt16LE(at + 5) <= width &&
      bytes.readUInt16LE(at + 3) + bytes.readUInt16LE(at + 7) <= height;
    if (!isInside) {
      return undefined;
    }
    frames += 1;
    at = skipBlocks(bytes, at + 11 + tableSize(bytes.readUInt8(at + 9)));
  }
}

/** Bytes of the colour table that a flags byte announces. */
function tableSize(flags: number): number {
  return flags & 0x80 ? 3 << ((flags & 0x07) + 1) : 0;
}

function skipBlocks(bytes: Buffer, start: number): number {
  let at = start;
  for (let size = bytes.readUInt8(at); size > 0; size = bytes.readUInt8(at)) {
    at += size + 1;
  }
  return at + 1;
}
