import { crc32, deflateSync } from "node:zlib";

/** Red, green and blue, 0 to 255. */
type Colour = readonly [number, number, number];

/** Sky above, sky at the horizon, hills far and near, sun. */
const palettes: readonly (readonly [Colour, Colour, Colour, Colour, Colour])[] = [
  [
    [38, 58, 92],
    [244, 176, 132],
    [150, 118, 132],
    [38, 44, 64],
    [255, 232, 190],
  ],
  [
    [98, 158, 196],
    [226, 238, 236],
    [132, 170, 160],
    [36, 74, 66],
    [255, 250, 224],
  ],
  [
    [20, 24, 44],
    [72, 84, 126],
    [52, 60, 92],
    [12, 16, 28],
    [236, 238, 226],
  ],
  [
    [196, 120, 96],
    [250, 222, 176],
    [190, 132, 104],
    [86, 50, 54],
    [255, 246, 214],
  ],
  [
    [146, 168, 176],
    [232, 230, 222],
    [160, 170, 168],
    [70, 84, 88],
    [250, 244, 232],
  ],
];

/** A PNG of hills, a sun and water; the same words give the same picture. */
export function drawPicture(words: string, { width = 512, height = 512 } = {}): Buffer {
  const seed = crc32(words);
  const [top, low, far, near, sun] = palettes[seed % palettes.length]!;
  const phase = (seed % 628) / 100;
  const ridges = [0, 1, 2, 3].map((at) => (x: number) => {
    const wave = Math.sin(x * (3 + at) + phase * (at + 1)) + 0.4 * Math.sin(x * (9 + 2 * at) - phase);
    return (0.46 + 0.09 * at + 0.035 * wave) * height;
  });
  const [sunX, sunY, radius] = [(0.25 + ((seed >>> 8) % 50) / 100) * width, 0.28 * height, 0.07 * height];
  const bytes = Buffer.alloc((width * 3 + 1) * height);
  for (let y = 0, at = 0; y < height; y += 1) {
    bytes[at++] = 0;
    for (let x = 0; x < width; x += 1) {
      // Water shows what is above it, darker and in bands.
      const shore = 0.82 * height;
      const isWater = y > shore;
      const row = isWater ? shore - (y - shore) * 1.6 + 3 * Math.sin(y / 2) : y;
      const layer = ridges.findLastIndex((ridge) => row > ridge((x / width) * 2));
      const distance = Math.hypot(x - sunX, row - sunY);
      const sky = mix(
        mix(top, low, row / (0.6 * height)),
        sun,
        Math.max(0, 1 - distance / (5 * radius)) * 0.55,
      );
      const dry = layer >= 0 ? mix(far, near, layer / 3) : distance < radius ? sun : sky;
      for (const part of isWater ? mix(dry, near, 0.35) : dry) {
        bytes[at++] = part;
      }
    }
  }
  return toPng(bytes, width, height);
}

function mix(from: Colour, to: Colour, share: number): Colour {
  const by = Math.min(1, Math.max(0, share));
  return [
    from[0] + (to[0] - from[0]) * by,
    from[1] + (to[1] - from[1]) * by,
    from[2] + (to[2] - from[2]) * by,
  ];
}

/** RFC 2083: eight bits of three colours, rows without a filter. */
function toPng(rows: Buffer, width: number, height: number): Buffer {
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 2, 0, 0, 0], 8);
  const chunk = (type: string, data: Buffer) => {
    const typed = Buffer.concat([Buffer.from(type), data]);
    const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
    length.writeUInt32BE(data.length);
    sum.writeUInt32BE(crc32(typed));
    return Buffer.concat([length, typed, sum]);
  };
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([
    signature,
    chunk("IHDR", head),
    chunk("IDAT", deflateSync(rows)),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}
