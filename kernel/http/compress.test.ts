import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { chooseEncoding, compressBuffer } from "./compress.ts";

const json = "application/json";

describe("chooseEncoding", () => {
  it.each([
    ["gzip, deflate, br, zstd", "zstd"],
    ["gzip, deflate, br", "br"],
    ["gzip", "gzip"],
    ["GZIP", "gzip"],
    ["*", "zstd"],
    ["zstd;q=0, br;q=0, *", "gzip"],
    ["gzip;q=1.0, br;q=0.5", "gzip"],
    ["deflate", undefined],
    ["identity", undefined],
    ["identity;q=1, gzip;q=0.5", undefined],
    ["gzip;q=0", undefined],
    ["", undefined],
    [undefined, undefined],
  ])("answers %j with %s", (accepted, expected) => {
    expect(chooseEncoding(accepted, json, 501)).toBe(expected);
    // The second answer comes from memory.
    expect(chooseEncoding(accepted, json, undefined)).toBe(expected);
  });

  it("takes the encoding that can follow its reader for what is sent piece by piece", () => {
    const all = "gzip, deflate, br, zstd";
    expect(chooseEncoding(all, json, undefined, { isStream: true })).toBe("gzip");
    expect(chooseEncoding("gzip;q=0.5, br", json, undefined, { isStream: true })).toBe("br");
    expect(chooseEncoding(all, json, 501)).toBe("zstd");
  });

  it("leaves 500 bytes and less alone", () => {
    expect(chooseEncoding("br", json, 500)).toBeUndefined();
    expect(chooseEncoding("br", json, 501)).toBe("br");
  });

  it.each([
    ["application/json; charset=utf-8", true],
    ["application/scim+json", true],
    ["text/html", true],
    ["Text/CSS", true],
    ["application/javascript", true],
    ["image/svg+xml", true],
    ["application/xml", true],
    ["text/event-stream", false],
    ["text/event-stream; charset=utf-8", false],
    ["application/x-ndjson", false],
    ["image/png", false],
    ["application/zip", false],
    ["application/octet-stream", false],
    ["", false],
    [undefined, false],
  ])("%s is compressed: %s", (type, expected) => {
    expect(chooseEncoding("br", type, 5_000)).toBe(expected ? "br" : undefined);
  });

  it("survives more different headers than it remembers", () => {
    for (let n = 0; n < 200; n += 1) {
      expect(chooseEncoding(`x-${n}, br`, json, 501)).toBe("br");
    }
  });
});

describe.each([
  ["zstd", zstdDecompressSync],
  ["br", brotliDecompressSync],
  ["gzip", gunzipSync],
] as const)("%s", (encoding, decompress) => {
  const text = Buffer.from('{"name":"value"},'.repeat(5_000));

  it("makes a buffer smaller and comes back the same", async () => {
    const small = await compressBuffer(encoding, text);
    expect(small.length).toBeLessThan(text.length / 10);
    expect(decompress(small).equals(text)).toBe(true);
    expect(decompress(await compressBuffer(encoding, Buffer.alloc(0))).length).toBe(0);
  });
});
