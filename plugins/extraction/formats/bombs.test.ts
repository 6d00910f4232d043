import { strToU8, zipSync } from "fflate";
import { describe, expect, it } from "vitest";
import { readDocument } from "./read.ts";

const limits = { pages: 500, members: 100, unpackedBytes: 512 * 1024 * 1024, characters: 10_000_000 };
const read = (name: string, bytes: Uint8Array) => readDocument({ bytes, name, type: "" }, limits);
const deep = "nested more than 1000 levels deep and cannot be read.";

/** An office document with one part of its own. */
const office = (name: string, xml: string) =>
  zipSync({ "[Content_Types].xml": strToU8("<Types/>"), [name]: strToU8(xml) });

const nested = (tag: string, count: number) => `<${tag}>`.repeat(count) + `</${tag}>`.repeat(count);

/** Small files that would take minutes or gigabytes. */
const bombs: readonly (readonly [kind: string, name: string, make: () => Uint8Array, reason: string])[] = [
  ["HTML nested without end", "a.html", () => Buffer.from("<div>".repeat(300_000)), deep],
  ["HTML whose end tags lie", "a.html", () => Buffer.from("<b><div></b></i>".repeat(50_000)), deep],
  [
    "HTML that a parser multiplies",
    "a.html",
    () => {
      const open = Array.from({ length: 900 }, (_, at) => `<b id=${at}>`).join("");
      return Buffer.from(`<p>${open}</p>${"<p>x</p>".repeat(10_000)}`);
    },
    "has more than 1000000 elements",
  ],
  [
    "a message",
    "a.eml",
    () => Buffer.from(`Subject: x\ncontent-type: text/html\n\n${"<div>".repeat(300_000)}`),
    deep,
  ],
  ["RTF", "a.rtf", () => Buffer.from(`{\\rtf1 ${"{".repeat(300_000)}`), deep],
  ["Word, nested", "a.docx", () => office("word/document.xml", nested("w", 100_000)), deep],
  [
    "Word, of many elements",
    "a.docx",
    () => office("word/document.xml", `<w>${"<p/>".repeat(1_000_001)}</w>`),
    "has more than 1000000 elements",
  ],
  ["Excel", "a.xlsx", () => office("xl/workbook.xml", nested("w", 100_000)), deep],
];

describe("documents that are bombs fail at once, with the reason", () => {
  it.each(bombs)("%s", async (_kind, name, make, reason) => {
    await expect(read(name, make())).rejects.toThrow(reason);
  });
});

it("deep and long documents below the bounds are read", async () => {
  const html = `${"<div>".repeat(900)}deep words${"</div>".repeat(900)}${"<p>long</p>".repeat(20_000)}`;
  const found = await read("a.html", Buffer.from(html));
  expect(found?.text).toMatch(/^deep words/);
  expect(found?.text.match(/long/g)).toHaveLength(20_000);
});
