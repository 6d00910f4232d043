import { crc32, deflateSync } from "node:zlib";

const size = 128;
let drawn: Buffer | undefined;

/** The picture of a model without one: a grey spark on a light ground, as PNG bytes. */
export function defaultIcon(): Buffer {
  drawn ??= draw();
  return drawn;
}

function draw(): Buffer {
  const rows = Buffer.alloc(size * (size + 1));
  for (let y = 0; y < size; y++) {
    for (let x = 0; x < size; x++) {
      // A star of four rays: the curve |x|^½ + |y|^½ = r^½, with an edge one pixel wide.
      const reach = (Math.sqrt(Math.abs(x - 63.5)) + Math.sqrt(Math.abs(y - 63.5))) ** 2;
      const inside = Math.min(1, Math.max(0, (46 - reach) / 2 + 0.5));
      rows[y * (size + 1) + 1 + x] = Math.round(0xe4 + (0x6e - 0xe4) * inside);
    }
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(size, 0);
  header.writeUInt32BE(size, 4);
  // Eight bits of grey per pixel; compression, filter and interlace methods stay 0.
  header[8] = 8;
  const signature = Buffer.from("89504e470d0a1a0a", "hex");
  const pieces = [
    toChunk("IHDR", header),
    toChunk("IDAT", deflateSync(rows)),
    toChunk("IEND", Buffer.alloc(0)),
  ];
  return Buffer.concat([signature, ...pieces]);
}

function toChunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, "ascii"), data]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  const check = Buffer.alloc(4);
  check.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, check]);
}
