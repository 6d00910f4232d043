import { Readable } from "node:stream";
import { expect, it } from "vitest";
import { readText } from "./text.ts";

const read = (bytes: Buffer | Buffer[], limit?: number) =>
  readText(Readable.from(Array.isArray(bytes) ? bytes : [bytes]), limit);

it.each([
  ["UTF-8", Buffer.from("grüße 🎈"), "grüße 🎈"],
  ["UTF-8 with a byte order mark", Buffer.from("\ufeffgrüße"), "grüße"],
  ["UTF-16LE", Buffer.from("\ufeffgrüße", "utf16le"), "grüße"],
  ["UTF-16BE", Buffer.from("\ufeffgrüße", "utf16le").swap16(), "grüße"],
  ["Windows-1252", Buffer.from([0x67, 0x72, 0xfc, 0xdf, 0x65]), "grüße"],
  ["nothing", Buffer.alloc(0), ""],
])("decodes %s", async (_title, bytes, content) => {
  expect(await read(bytes)).toEqual({ content, truncated: false });
});

it("decodes a character that two pieces share", async () => {
  const bytes = Buffer.from("ü🎈");
  expect(await read([...bytes].map((byte) => Buffer.from([byte])))).toEqual({
    content: "ü🎈",
    truncated: false,
  });
});

it("says that bytes are no text", async () => {
  expect(await read(Buffer.from([0x7f, 0x45, 0x4c, 0x46, 0, 0, 1]))).toBeUndefined();
});

it("leaves out NUL characters that come late", async () => {
  const bytes = Buffer.concat([Buffer.alloc(9000, "a"), Buffer.from([0]), Buffer.from("b")]);
  expect(await read(bytes)).toEqual({ content: `${"a".repeat(9000)}b`, truncated: false });
});

it("keeps what fits the limit, whole characters only", async () => {
  expect(await read(Buffer.from("aaü"), 3)).toEqual({ content: "aa", truncated: true });
  expect(await read(Buffer.from("aaa"), 3)).toEqual({ content: "aaa", truncated: false });
});

it("stops reading behind the limit", async () => {
  let given = 0;
  const endless = Readable.from(
    (async function* () {
      for (;;) {
        given += 1;
        yield Buffer.alloc(1000, "x");
      }
    })(),
  );
  expect(await readText(endless, 5000)).toMatchObject({ truncated: true });
  expect(given).toBeLessThan(30);
  expect(endless.destroyed).toBe(true);
});
