import { describe, expect, it, test } from "vitest";
import { AppError } from "#kernel/errors.ts";
import { maxBackgroundBytes, readBackgroundImage } from "./background-image.ts";
import { gif, pixels, png, toDataUri } from "./pictures.fixture.ts";

const read = (data: string) => readBackgroundImage(data, "m");
function refusal(data: string): [string, string] {
  try {
    read(data);
  } catch (error) {
    if (error instanceof AppError) {
      return [error.code, String(error.detail)];
    }
    throw error;
  }
  throw new Error("nothing was refused");
}

describe("a background image", () => {
  it.each([
    ["png", png(3, 2), "png"],
    ["jpeg", pixels.jpeg, "jpeg"],
    ["jpg", pixels.jpeg, "jpeg"],
    ["webp", pixels.webp, "webp"],
    ["gif", gif(1), "gif"],
    ["gif", gif(900), "gif"],
    ["PNG", png(1, 1), "png"],
  ])("may be %s", (type, bytes, expected) => {
    expect(read(toDataUri(type, bytes))).toEqual({ type: expected, bytes });
  });

  it("may have 25 megapixels, and no more", () => {
    const at = (width: number) => toDataUri("png", png(width, 5_000, { pixels: false }));
    expect(read(at(5_000)).type).toBe("png");
    expect(refusal(at(5_001))).toEqual(["invalid", expect.stringContaining("25 megapixels")]);
    expect(refusal(toDataUri("png", png(50_000, 50_000, { pixels: false })))[1]).toContain("25 megapixels");
  });

  it("may have 5 MiB, and no more", () => {
    const head = png(1, 1);
    const filled = (size: number) => Buffer.concat([head, Buffer.alloc(size - head.length)]);
    expect(read(toDataUri("png", filled(maxBackgroundBytes))).bytes.length).toBe(maxBackgroundBytes);
    for (const size of [maxBackgroundBytes + 1, maxBackgroundBytes + 2, 3 * maxBackgroundBytes]) {
      expect(refusal(toDataUri("png", filled(size)))).toEqual([
        "too_large",
        expect.stringContaining("5 MiB"),
      ]);
    }
  });

  it.each<[string, string]>([
    ["an SVG", `data:image/svg+xml;base64,${Buffer.from("<svg/>").toString("base64")}`],
    [
      "an SVG that says it is a PNG",
      toDataUri("png", Buffer.from("<svg xmlns='http://www.w3.org/2000/svg'/>")),
    ],
    ["HTML", `data:text/html;base64,${Buffer.from("<script>").toString("base64")}`],
    ["an address", "https://example.test/a.png"],
    ["a file of the server", "file:///etc/passwd"],
    ["not base64", "data:image/png;base64,%89PNG"],
    ["base64 with a line break", `${toDataUri("png", png(1, 1)).slice(0, 40)}\n`],
    ["nothing", "data:image/png;base64,"],
    ["parameters", toDataUri("png;charset=utf-8", png(1, 1))],
    ["a BMP", toDataUri("bmp", Buffer.from("BM"))],
    ["a GIF that says it is a PNG", toDataUri("png", gif(1))],
    ["a PNG that says it is a JPEG", toDataUri("jpeg", png(1, 1))],
    ["a signature and no more", toDataUri("png", Buffer.from("89504e470d0a1a0a", "hex"))],
    ["a PNG without pixels in it", toDataUri("png", png(1, 1).subarray(0, 33))],
    ["a PNG of no size", toDataUri("png", png(0, 0))],
    ["a WebP that was cut off", toDataUri("webp", pixels.webp.subarray(0, 18))],
    ["a GIF that was cut off", toDataUri("gif", gif(2).subarray(0, -8))],
    ["a GIF whose frames are larger than it says", toDataUri("gif", gif(1, { frame: 60_000 }))],
    ["a GIF of 20,000 frames", toDataUri("gif", gif(20_000))],
  ])("may not be %s", (_name, data) => {
    expect(refusal(data)[0]).toBe("invalid");
  });
});

test("half a million random bytes behind each signature are read without a fault", () => {
  let seed = 7;
  const next = () => (seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31);
  for (const [type, start] of [
    ["png", "89504e470d0a1a0a0000000d49484452"],
    ["jpeg", "ffd8ffe0"],
    ["gif", "474946383961"],
    ["webp", "5249464600000000574542505650385820000000"],
  ] as const) {
    for (let run = 0; run < 200; run++) {
      const rest = Buffer.from(Array.from({ length: 600 }, () => next() >> 8));
      const bytes = Buffer.concat([Buffer.from(start, "hex"), rest]);
      try {
        read(toDataUri(type, bytes));
      } catch (error) {
        expect(error).toBeInstanceOf(AppError);
      }
    }
  }
});
