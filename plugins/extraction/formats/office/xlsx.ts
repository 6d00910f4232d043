import { readXml } from "../xml.ts";
import { TableWriter } from "../table.ts";
import type { TextBuilder } from "../text-builder.ts";
import type { ZipArchive } from "../../zip/zip.ts";
import { readRelationships, relationshipOf, requirePart } from "./package.ts";
import { type CellFormats, readFormats, toDateText } from "./xlsx-dates.ts";

const main = "xl/workbook.xml";

/** Every sheet of a workbook, hidden ones too, row by row; the place is the name of the sheet. */
export function readXlsx(archive: ZipArchive, builder: TextBuilder): void {
  const relationships = readRelationships(archive, main);
  const sheets: { name: string; target: string }[] = [];
  let isFrom1904 = false;
  readXml(requirePart(archive, main), {
    open(name, attributes) {
      if (name === "workbookPr") {
        isFrom1904 = ["1", "true"].includes(attributes.date1904 ?? "");
      } else if (name === "sheet") {
        const target = relationships.get(relationshipOf(attributes) ?? "")?.target;
        if (target !== undefined) {
          sheets.push({ name: attributes.name ?? "", target });
        }
      }
    },
  });
  const styles = archive.read("xl/styles.xml");
  const formats = styles ? readFormats(styles, isFrom1904) : { isDate: () => false, isFrom1904 };
  const strings = readStrings(archive.read("xl/sharedStrings.xml"));
  for (const { name, target } of sheets) {
    const bytes = archive.read(target);
    if (bytes !== undefined && !builder.isFull) {
      builder.begin({ sheet: name });
      readSheet(bytes, { title: name, strings, formats, builder });
    }
  }
}

function readStrings(bytes: Uint8Array | undefined): string[] {
  const strings: string[] = [];
  let text = "";
  let isText = false;
  let isPhonetic = false;
  if (bytes) {
    readXml(bytes, {
      open(name) {
        text = name === "si" ? "" : text;
        isPhonetic ||= name === "rPh";
        isText = name === "t" && !isPhonetic;
      },
      text(piece) {
        text += isText ? piece : "";
      },
      close(name) {
        isText = false;
        isPhonetic &&= name !== "rPh";
        if (name === "si") {
          strings.push(text);
        }
      },
    });
  }
  return strings;
}

interface Sheet {
  readonly title: string;
  readonly strings: readonly string[];
  readonly formats: CellFormats;
  readonly builder: TextBuilder;
}

const mostColumns = 16_384;

function readSheet(bytes: Uint8Array, { title, strings, formats, builder }: Sheet): void {
  const table = new TableWriter(builder);
  let row: string[] = [];
  let cell = { type: "", style: 0, column: 0 };
  let value = "";
  let isValue = false;
  let isTitled = false;
  readXml(bytes, {
    open(name, attributes) {
      if (name === "row") {
        row = [];
      } else if (name === "c") {
        const column = attributes.r ? columnOf(attributes.r) : row.length;
        cell = { type: attributes.t ?? "n", style: Number(attributes.s ?? 0), column };
        value = "";
      }
      isValue = name === "v" || name === "t";
    },
    text(text) {
      value += isValue ? text : "";
    },
    close(name) {
      isValue = false;
      if (name === "c" && cell.column < mostColumns) {
        while (row.length < cell.column) {
          row.push("");
        }
        row[cell.column] = toText(value, cell, { strings, formats });
      } else if (name === "row" && !builder.isFull) {
        if (!isTitled && row.some((text) => text.trim() !== "")) {
          isTitled = true;
          builder.add(`## ${title}\n\n`);
        }
        table.row(row);
      }
    },
  });
}

function toText(
  value: string,
  { type, style }: { type: string; style: number },
  { strings, formats }: Pick<Sheet, "strings" | "formats">,
): string {
  if (type === "s") {
    return strings[Number(value)] ?? "";
  }
  if (type === "b") {
    return value === "1" ? "TRUE" : "FALSE";
  }
  if (type === "n" && value !== "" && formats.isDate(style)) {
    return toDateText(Number(value), formats.isFrom1904) ?? value;
  }
  return type === "n" ? toNumberText(value) : value;
}

/** Files hold 0.1 + 0.2 as it was computed; people saw fifteen digits of it. */
function toNumberText(value: string): string {
  const number = Number(value);
  return value.length > 16 && Number.isFinite(number) ? String(Number(number.toPrecision(15))) : value;
}

/** The index of a column by its letters: A is 0, AA is 26. */
function columnOf(reference: string): number {
  let column = 0;
  for (const sign of reference.toUpperCase()) {
    const letter = sign.charCodeAt(0) - 64;
    if (letter < 1 || letter > 26) {
      break;
    }
    column = column * 26 + letter;
  }
  return column - 1;
}
