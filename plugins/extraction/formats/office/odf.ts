import { readXml } from "../xml.ts";
import { isProtected } from "../problem.ts";
import { TableWriter } from "../table.ts";
import type { TextBuilder } from "../text-builder.ts";
import type { ZipArchive } from "../../zip/zip.ts";
import { requirePart } from "./package.ts";

/** OpenDocument text, sheets and slides, read from `content.xml`; places are sheets or slides. */
export function readOdf(archive: ZipArchive, builder: TextBuilder, kind: "text" | "sheets" | "slides"): void {
  refuseEncrypted(archive);
  const state = new OdfState(builder, kind);
  readXml(requirePart(archive, "content.xml"), state);
}

function refuseEncrypted(archive: ZipArchive): void {
  const manifest = archive.read("META-INF/manifest.xml");
  if (manifest) {
    readXml(manifest, {
      open(name) {
        if (name === "encryption-data") {
          throw isProtected();
        }
      },
    });
  }
}

const mostRepeats = 100;
/** Marks of changes and comments of reviewers are not the text. */
const unread = new Set(["tracked-changes", "annotation", "note-citation", "forms"]);

class OdfState {
  readonly #builder: TextBuilder;
  readonly #kind: "text" | "sheets" | "slides";
  #skipped = 0;
  #paragraph = "";
  #paragraphs = 0;
  #heading = 0;
  #lists = 0;
  #page = 0;
  #isInNotes = false;
  #tables: { writer: TableWriter; row: string[]; cell: string | undefined; repeats: number }[] = [];
  /** A sheet's name until its first row that holds something. */
  #title: string | undefined;

  constructor(builder: TextBuilder, kind: "text" | "sheets" | "slides") {
    this.#builder = builder;
    this.#kind = kind;
  }

  open(name: string, attributes: Readonly<Record<string, string>>): void {
    if (this.#skipped > 0 || unread.has(name)) {
      this.#skipped += 1;
      return;
    }
    const table = this.#tables.at(-1);
    if (name === "p" || name === "h") {
      this.#paragraphs += 1;
      this.#heading = name === "h" ? Math.min(Number(attributes["text:outline-level"] ?? 1), 6) : 0;
      this.#paragraph = this.#paragraphs > 1 ? `${this.#paragraph} ` : "";
    } else if (name === "list") {
      this.#lists += 1;
    } else if (name === "page" && this.#kind === "slides") {
      this.#page += 1;
      this.#builder.begin({ page: this.#page });
    } else if (name === "notes" && this.#kind === "slides") {
      this.#isInNotes = true;
    } else if (name === "table") {
      this.#openTable(attributes["table:name"] ?? "");
    } else if (name === "table-row" && table) {
      table.row = [];
    } else if ((name === "table-cell" || name === "covered-table-cell") && table) {
      table.cell = "";
      table.repeats = Math.min(Number(attributes["table:number-columns-repeated"] ?? 1) || 1, mostRepeats);
    } else if (this.#paragraphs > 0) {
      this.#addSign(name, attributes);
    }
  }

  text(text: string): void {
    if (this.#skipped === 0 && this.#paragraphs > 0) {
      this.#paragraph += text.replace(/\s+/g, " ");
    }
  }

  close(name: string): void {
    if (this.#skipped > 0) {
      this.#skipped -= 1;
      return;
    }
    const table = this.#tables.at(-1);
    if (name === "p" || name === "h") {
      this.#paragraphs -= 1;
      if (this.#paragraphs === 0) {
        this.#endParagraph();
      }
    } else if (name === "list") {
      this.#lists -= 1;
    } else if (name === "notes" && this.#kind === "slides") {
      this.#isInNotes = false;
    } else if ((name === "table-cell" || name === "covered-table-cell") && table) {
      for (let left = table.repeats; left > 0; left -= 1) {
        table.row.push(table.cell ?? "");
      }
      table.cell = undefined;
    } else if (name === "table-row" && table) {
      this.#endRow(table);
    } else if (name === "table") {
      this.#tables.pop();
      if (this.#tables.length === 0) {
        this.#builder.add("\n");
      }
    }
  }

  #addSign(name: string, attributes: Readonly<Record<string, string>>): void {
    if (name === "s") {
      this.#paragraph += " ".repeat(Math.min(Number(attributes["text:c"] ?? 1) || 1, mostRepeats));
    } else if (name === "tab" || name === "line-break") {
      this.#paragraph += name === "tab" ? "\t" : "\n";
    }
  }

  #openTable(name: string): void {
    if (this.#kind === "sheets" && this.#tables.length === 0) {
      this.#builder.begin({ sheet: name });
      this.#title = name;
    } else if (this.#tables.length === 0) {
      this.#builder.add("\n");
    }
    this.#tables.push({ writer: new TableWriter(this.#builder), row: [], cell: undefined, repeats: 1 });
  }

  #endRow(table: { writer: TableWriter; row: string[] }): void {
    // A table within a cell is written before the row it stands in; its cells are few.
    if (this.#title !== undefined && table.row.some((cell) => cell.trim() !== "")) {
      this.#builder.add(`## ${this.#title}\n\n`);
      this.#title = undefined;
    }
    table.writer.row(table.row);
  }

  #endParagraph(): void {
    const text = this.#paragraph.trim();
    const table = this.#tables.at(-1);
    if (text === "") {
      return;
    }
    if (table?.cell !== undefined) {
      table.cell = table.cell === "" ? text : `${table.cell} ${text}`;
    } else if (this.#heading > 0) {
      this.#builder.add(`\n${"#".repeat(this.#heading)} ${text}\n\n`);
    } else if (this.#lists > 0) {
      this.#builder.add(`${"  ".repeat(this.#lists - 1)}- ${text}\n`);
    } else {
      this.#builder.add(`${this.#isInNotes ? "Notes: " : ""}${text}\n${this.#kind === "text" ? "\n" : ""}`);
    }
  }
}
