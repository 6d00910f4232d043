import { readFile } from "node:fs/promises";
import { strToU8, zipSync } from "fflate";
import { describe, expect, it } from "vitest";
import { toPdf } from "../pdf.fixture.ts";
import { toMsg } from "../msg.fixture.ts";
import { readDocument } from "./read.ts";

const limits = { pages: 500, members: 100, unpackedBytes: 200 * 1024 * 1024, characters: 10_000_000 };
const sample = (name: string) => readFile(new URL(`../fixtures/${name}`, import.meta.url));

async function read(name: string, given?: Uint8Array | string, type = "") {
  const bytes = typeof given === "string" ? Buffer.from(given) : (given ?? (await sample(name)));
  return await readDocument({ bytes, name, type }, limits);
}

const lines = (...all: string[]) => all.join("\n");

describe("documents that other programs wrote", () => {
  it("a PDF gives its text page by page", async () => {
    expect(await read("letter.pdf")).toEqual({
      text: lines(
        "Dear harbour master,",
        "the crane arrives on 3 May.",
        "",
        "It weighs eleven tonnes.",
        "",
        "Kind regards, Ada",
      ),
      places: [
        { start: 0, page: 1 },
        { start: 50, page: 2 },
        { start: 76, page: 4 },
      ],
    });
  });

  it("a PDF that only its owner may change is read", async () => {
    expect(await read("owner-locked.pdf")).toMatchObject({ text: expect.stringContaining("eleven tonnes") });
  });

  it("a Word document keeps headings, lists and tables", async () => {
    const found = await read("report.docx");
    expect(found?.text).toContain(
      lines(
        "# Tides",
        "",
        "The spring tide of 14 March reached 6.2 metres at the north quay.",
        "",
        "## Ships",
      ),
    );
    expect(found?.text).toContain(lines("- Aurora", "- Borealis", "", "| Ship | Draught |", "| --- | --- |"));
    expect(found?.text).toContain("Größe, naïve, 日本語.");
  });

  it("a workbook gives each row with the names of its columns, dates as dates", async () => {
    const found = await read("people.xlsx");
    expect(found?.text).toContain("Name: Ada Lovelace; Born: 1985-12-10; City: London; Paid: 12.5");
    expect(found?.text).toContain("Name: Grace Hopper; Born: 1986-12-09 14:30; City: New York; Paid: TRUE");
    expect(found?.text).toContain(lines("## Numbers", "", "1 | 2 | 3"));
    expect(found?.places.map(({ sheet }) => sheet)).toEqual(["People", "Numbers"]);
  });

  it("slides come in their order, with tables and notes", async () => {
    const found = await read("plan.pptx");
    expect(found?.text).toContain(
      lines(
        "## Launch plan",
        "",
        "Begin in May",
        "Invite the harbour master",
        "",
        "Notes: Mention the budget",
      ),
    );
    expect(found?.text).toContain("Crane | 30,000");
    expect(found?.places.map(({ page }) => page)).toEqual([1, 2]);
  });

  it("OpenDocument text keeps headings, lists and tables", async () => {
    expect((await read("garden.odt"))?.text).toBe(
      lines(
        "# Garden notes",
        "",
        "Plant the quince in October.",
        "",
        "- Dig",
        "",
        "Tree | Height",
        "Tree: Quince; Height: 4 m",
      ),
    );
  });

  it("OpenDocument sheets do not repeat what is empty a million times", async () => {
    const found = await read("stock.ods");
    expect(found?.text).toContain("Item: Anchor; Count: 3");
    expect(found?.text.length).toBeLessThan(200);
    expect(found?.places.map(({ sheet }) => sheet)).toEqual(["Stock", "Prices"]);
  });

  it("OpenDocument slides have numbers and notes", async () => {
    const found = await read("talk.odp");
    expect(found?.text).toContain(lines("Opening", "Welcome aboard", "Notes: Smile."));
    expect(found?.places.map(({ page }) => page)).toEqual([1, 2]);
  });

  it("a book is read in the order of its spine", async () => {
    const found = await read("tales.epub");
    const text = found?.text ?? "";
    expect(text.indexOf("Nobody spoke")).toBeLessThan(text.indexOf("The mast broke at noon."));
    expect(found?.places.map(({ part }) => part)).toEqual(["Sea tales", "The calm", "The storm"]);
  });

  it.each([
    ["protected.pdf", "The PDF is protected by a password."],
    ["protected.xlsx", "The document is protected by a password."],
    ["protected.zip", "The archive is protected by a password."],
    ["scanned.pdf", "No text found in this PDF: its pages are pictures, which need an OCR engine."],
  ])("%s says why it gives no text", async (name, reason) => {
    await expect(read(name)).rejects.toThrow(reason);
  });
});

describe("texts", () => {
  it("HTML becomes Markdown without scripts and styles", async () => {
    const page =
      '<html><head><title>Tide &amp; sea</title><style>p{}</style><script>alert("x")</script></head><body><h2>Times</h2>' +
      "<p>High <b>water</b> at <a href='/n'>noon</a>.</p><ol><li>one<ul><li>in</li></ul></li><li>two</li></ol></body></html>";
    expect((await read("a.html", page))?.text).toBe(
      lines("# Tide & sea", "", "## Times", "", "High water at noon.", "", "1. one", "  - in", "2. two"),
    );
  });

  it("HTML is decoded as it says", async () => {
    const page = Buffer.from('<meta charset="iso-8859-2"><p>Ostr\xb3w</p>', "latin1");
    expect((await read("a.htm", page))?.text).toBe("Ostrłw");
  });

  it("rows of a table know their columns, whatever separates them", async () => {
    expect((await read("a.csv", 'name;age\n"Ada; L";36\nBo;4\n'))?.text).toBe(
      lines("name | age", "name: Ada; L; age: 36", "name: Bo; age: 4"),
    );
    expect((await read("a.tsv", "1\t2\n3\t4\n"))?.text).toBe(lines("1 | 2", "3 | 4"));
  });

  it("RTF gives its words, also those beyond its code page", async () => {
    const rtf = String.raw`{\rtf1\ansi\ansicpg1252{\fonttbl{\f0 Arial;}}{\*\generator X;}\b Heading\b0\par Caf\'e9 co\u251?t 5 \u8364? today.\par {\field{\*\fldinst HYPERLINK "http://x"}{\fldrslt the link}}{\pict\bin4 {}{}} end}`;
    expect((await read("a.rtf", rtf))?.text).toBe(lines("Heading", "Café coût 5 € today.", "the link end"));
  });

  it("a message gives headers, text and the texts of its attachments", async () => {
    const message = lines(
      "From: Ada <ada@example.test>",
      "To: bo@example.test",
      "Subject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=",
      "MIME-Version: 1.0",
      "Content-Type: multipart/mixed; boundary=b",
      "",
      "--b",
      "Content-Type: text/html",
      "",
      "<p>See the <b>list</b>.</p>",
      "--b",
      'Content-Disposition: attachment; filename="../list.csv"',
      "Content-Type: text/csv",
      "Content-Transfer-Encoding: base64",
      "",
      Buffer.from("a,b\n1,2\n").toString("base64"),
      "--b--",
    );
    const found = await read("a.eml", message);
    expect(found?.text).toBe(
      lines(
        "From: Ada <ada@example.test>",
        "To: bo@example.test",
        "Subject: Grüße",
        "",
        "See the list.",
        "",
        "",
        "a | b",
        "a: 1; b: 2",
      ),
    );
    expect(found?.places).toEqual([{ start: found?.text.indexOf("a | b"), part: "list.csv" }]);
  });
});

describe("messages of Outlook", () => {
  it("give their headers, their text and the texts of their attachments", async () => {
    const found = await read("a.msg", toMsg());
    expect(found?.text).toBe(
      lines(
        "From: Ada <ada@example.test>",
        "To: Bo <bo@example.test>",
        "Subject: Grüße",
        "",
        "See the list.",
        "",
        "",
        "a | b",
        "a: 1; b: 2",
      ),
    );
    expect(found?.places).toEqual([{ start: found?.text.indexOf("a | b"), part: "list.csv" }]);
  });
});

describe("files that are not what their name says", () => {
  const png = Buffer.from("\x89PNG\r\n\x1a\n0000", "latin1");

  it.each([
    ["empty.pdf", "", "The file is empty."],
    ["a.pdf", png, "The file is named .pdf but holds a PNG picture."],
    ["a.docx", "just words", "The file is named .docx but holds something else."],
    ["a.pdf", "%PDF-1.4\nnothing", "The PDF is damaged and cannot be read."],
    ["a.txt", Buffer.from([65, 0, 66, 0, 0, 1]), "The file is named as a text but holds something else."],
    ["spaces.txt", " \n\t ", "No text found in this file."],
    [
      "a.docx",
      zipSync({
        "[Content_Types].xml": strToU8("<a/>"),
        "word/document.xml": strToU8("<w:document><unclosed>"),
      }),
      "The document is damaged and cannot be read.",
    ],
  ])("%s fails with the reason", async (name, bytes, reason) => {
    await expect(read(name, bytes)).rejects.toThrow(reason);
  });

  it("a workbook named as a Word document is read as what it is", async () => {
    expect((await read("people.docx", await sample("people.xlsx")))?.text).toContain("Name: Ada Lovelace");
  });

  it("bytes that promise no document are none", async () => {
    expect(await read("a.bin", Buffer.from([1, 2, 3, 0]))).toBeUndefined();
    expect(await read("photo", png)).toBeUndefined();
  });

  it("a PDF of endless pages is not read", async () => {
    await expect(read("endless.pdf", toPdf(Array.from({ length: 501 }, () => "x")))).rejects.toThrow(
      "The PDF has more than 500 pages.",
    );
  });

  it("a text is cut where the platform keeps no more, and says so", async () => {
    const bytes = Buffer.from("word ".repeat(100));
    const found = await readDocument({ bytes, name: "a.txt", type: "" }, { ...limits, characters: 52 });
    expect(found).toMatchObject({ text: `${"word ".repeat(10)}wo`, truncated: true });
  });
});
