import { parse } from "csv-parse";
import { decodeText, isBinary } from "./decode.ts";
import { DocumentProblem } from "./problem.ts";
import type { DocumentReader } from "./reading.ts";
import { TableWriter } from "./table.ts";

/** Text, code and Markdown as they stand. */
export const readPlain: DocumentReader = ({ bytes }, { builder, limits }) => {
  if (isBinary(bytes)) {
    throw new DocumentProblem("The file is named as a text but holds something else.");
  }
  builder.add(decodeText(startOf(bytes, limits.characters)));
};

/** Bytes of a character at most, in every encoding that is read. */
const bytesOfCharacter = 4;

/** As many bytes as the characters that are kept can take; what follows is neither decoded nor kept. */
function startOf(bytes: Uint8Array, characters: number): Uint8Array {
  let end = Math.min(bytes.length, (characters + 1) * bytesOfCharacter);
  // UTF-8 must not end within a character.
  while (end < bytes.length && end > 0 && ((bytes[end] as number) & 0xc0) === 0x80) {
    end -= 1;
  }
  return bytes.subarray(0, end);
}

const separators = [",", ";", "\t", "|"];

/** Rows of comma-separated values, each with the names of its columns. */
export const readCsv: DocumentReader = async ({ bytes }, { builder }) => {
  if (isBinary(bytes)) {
    throw new DocumentProblem("The file is named as a table but holds something else.");
  }
  const text = decodeText(bytes);
  const rows = parse(text, {
    delimiter: separatorOf(text),
    bom: true,
    relaxColumnCount: true,
    relaxQuotes: true,
    skipEmptyLines: true,
    maxRecordSize: 1_000_000,
  });
  const table = new TableWriter(builder);
  try {
    for await (const row of rows) {
      table.row(row as string[]);
      if (builder.isFull) {
        return;
      }
    }
  } catch (error) {
    throw new DocumentProblem("The table is damaged: a quotation mark is opened and not closed.", {
      cause: error,
    });
  }
};

/** The sign that stands most often in the first lines. */
function separatorOf(text: string): string {
  const head = text.slice(0, 5000).split("\n", 5).join("\n");
  const counts = separators.map((sign) => ({ sign, count: head.split(sign).length }));
  return counts.toSorted((one, other) => other.count - one.count)[0]?.sign ?? ",";
}
