import { crc32, deflateSync } from "node:zlib";

/** A real picture of one grey, or (without pixels) only the header of one that claims this size. */
export function png(width: number, height: number, { pixels = true }: { pixels?: boolean } = {}): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header[8] = 8;
  const rows = pixels ? Buffer.alloc(height * (width + 1), 0x55) : Buffer.alloc(1);
  // Each row is led by PNG's filter byte.
  for (let at = 0; at < rows.length; at += width + 1) {
    rows[at] = 0;
  }
  return Buffer.concat([
    Buffer.from("89504e470d0a1a0a", "hex"),
    toChunk("IHDR", header),
    toChunk("IDAT", deflateSync(rows)),
    toChunk("IEND", Buffer.alloc(0)),
  ]);
}

/** An animation of frames of one pixel; `frame` is the size that each frame claims. */
export function gif(frames: number, { frame = 1 }: { frame?: number } = {}): Buffer {
  const screen = Buffer.from("47494638396101000100800000000000ffffff", "hex");
  const one = Buffer.from("2c0000000000000000000202440100", "hex");
  one.writeUInt16LE(frame, 5);
  one.writeUInt16LE(frame, 7);
  return Buffer.concat([screen, ...Array.from({ length: frames }, () => one), Buffer.from([0x3b])]);
}

/** A white pixel each, made by common encoders. */
export const pixels = {
  jpeg: Buffer.from(
    "/9j/4AAQSkZJRgABAQEAYABgAAD/2wBDAAgGBgcGBQgHBwcJCQgKDBQNDAsLDBkSEw8UHRofHh0aHBwgJC4nICIsIxwcKDcpLDAxNDQ0Hyc5PTgyPC4zNDL/wAALCAABAAEBAREA/8QAFAABAAAAAAAAAAAAAAAAAAAACf/EABQQAQAAAAAAAAAAAAAAAAAAAAD/2gAIAQEAAD8AKp//2Q==",
    "base64",
  ),
  webp: Buffer.from("UklGRiIAAABXRUJQVlA4IBYAAAAwAQCdASoBAAEADsD+JaQAA3AAAAAA", "base64"),
};

export function toDataUri(type: string, bytes: Buffer): string {
  return `data:image/${type};base64,${bytes.toString("base64")}`;
}

function toChunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, "ascii"), data]);
  const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  check.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, check]);
}
