import { readFile } from "node:fs/promises";
import { strToU8, type Zippable, zipSync } from "fflate";
import { describe, expect, it } from "vitest";
import { readDocument } from "./read.ts";

const limits = { pages: 500, members: 100, unpackedBytes: 200 * 1024 * 1024, characters: 10_000_000 };
const sample = (name: string) => readFile(new URL(`../fixtures/${name}`, import.meta.url));

async function read(name: string, given?: Uint8Array | string, type = "") {
  const bytes = typeof given === "string" ? Buffer.from(given) : (given ?? (await sample(name)));
  return await readDocument({ bytes, name, type }, limits);
}

describe("archives", () => {
  const zip = (members: Zippable) => zipSync(members);

  it("give the text of each member at its own place, and say which gave none", async () => {
    const inner = zip({ "deep.txt": strToU8("deep words") });
    const found = await read(
      "a.zip",
      zip({
        "docs/letter.pdf": await sample("letter.pdf"),
        "../../etc/notes.txt": strToU8("climbing words"),
        "C:\\inner.zip": inner,
        "broken.pdf": strToU8("%PDF-1.7 nothing else"),
        "picture.png": Buffer.from("\x89PNG\r\n\x1a\n", "latin1"),
        "__MACOSX/._notes.txt": strToU8("of no use"),
      }),
    );
    expect(found?.places).toEqual([
      { start: 0, part: "docs/letter.pdf", page: 1 },
      { start: 50, part: "docs/letter.pdf", page: 2 },
      { start: 76, part: "docs/letter.pdf", page: 4 },
      { start: 95, part: "etc/notes.txt" },
      { start: 111, part: "deep.txt" },
    ]);
    expect(found?.skipped).toEqual([
      { part: "broken.pdf", reason: "The PDF is damaged and cannot be read." },
      { part: "picture.png", reason: "The file holds no text." },
    ]);
  });

  it("are followed two levels deep", async () => {
    const third = zip({ "c.txt": strToU8("third") });
    const second = zip({ "third.zip": third, "b.txt": strToU8("second") });
    const found = await read("a.zip", zip({ "second.zip": second }));
    expect(found?.text).toBe("second");
    expect(found?.skipped).toEqual([
      { part: "third.zip", reason: "Archives are packed into each other more often than is read." },
    ]);
  });

  it("that are bombs fail as a whole", async () => {
    const bomb = zip({ "zeros.txt": new Uint8Array(66 * 1024 * 1024), "a.txt": strToU8("words") });
    const reason = "The archive unpacks to far more than is read from one file.";
    await expect(read("bomb.zip", bomb)).rejects.toThrow(reason);
    const outer = zip({ "a.txt": strToU8("words"), "bomb.zip": [bomb, { level: 0 }] });
    await expect(read("outer.zip", outer)).rejects.toThrow(reason);
  });

  it("that unpack to more than is allowed fail as a whole, office documents too", async () => {
    const part = new Uint8Array(600_000);
    const packed = zip({
      "[Content_Types].xml": strToU8("<a/>"),
      "word/document.xml": part,
      "word/b.xml": part,
    });
    const reading = readDocument(
      { bytes: packed, name: "a.docx", type: "" },
      { ...limits, unpackedBytes: 1_000_000 },
    );
    await expect(reading).rejects.toThrow("The archive unpacks to far more than is read from one file.");
  });

  it("that state smaller sizes than they have are damaged", async () => {
    const packed = Buffer.from(zip({ "a.txt": strToU8("words ".repeat(10_000)) }));
    const directory = packed.lastIndexOf(Buffer.from("PK\u0001\u0002"));
    packed.writeUInt32LE(10, directory + 24);
    await expect(read("lie.zip", packed)).rejects.toThrow("The archive is damaged and cannot be read.");
  });

  it("with more members than are read fail", async () => {
    const many = Object.fromEntries(Array.from({ length: 101 }, (_, at) => [`${at}.txt`, strToU8("x")]));
    await expect(read("a.zip", zip(many))).rejects.toThrow(
      "The archive has more members than are read from one file.",
    );
  });
});
