import { crc32, deflateSync } from "node:zlib";

const size = 128;
const background = 0xd4;
const figure = 0x8a;
let drawn: Buffer | undefined;

/** The picture of an account without one: a grey head and shoulders, as PNG bytes. */
export function defaultAvatar(): Buffer {
  drawn ??= toPng(draw());
  return drawn;
}

/** Rows of grey values, each led by PNG's filter byte 0. */
function draw(): Buffer {
  const rows = Buffer.alloc(size * (size + 1));
  for (let y = 0; y < size; y++) {
    for (let x = 0; x < size; x++) {
      const head = coverage(Math.hypot(x - 63.5, y - 50), 23);
      const shoulders = coverage(Math.hypot(x - 63.5, (y - 128) * 0.95), 46);
      rows[y * (size + 1) + 1 + x] = Math.round(
        background + (figure - background) * Math.max(head, shoulders),
      );
    }
  }
  return rows;
}

/** How much of a pixel lies inside a circle; the edge is one pixel wide. */
function coverage(distance: number, radius: number): number {
  return Math.min(1, Math.max(0, radius - distance + 0.5));
}

function toPng(rows: Buffer): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(size, 0);
  header.writeUInt32BE(size, 4);
  // Eight bits of grey per pixel; compression, filter and interlace methods stay 0.
  header[8] = 8;
  const signature = Buffer.from("89504e470d0a1a0a", "hex");
  return Buffer.concat([
    signature,
    chunk("IHDR", header),
    chunk("IDAT", deflateSync(rows)),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, "ascii"), data]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  const check = Buffer.alloc(4);
  check.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, check]);
}
