import { parse } from "csv-parse";
import { decodeText, isBinary } from "./decode.ts";
import { DocumentProblem } from "./problem.ts";
import type { DocumentReader } from "./reading.ts";
import { TableWriter } from "./table.ts";

/** Text, code and Markdown as they stand. */
export const readPlain: DocumentReader = ({ bytes }, { builder }) => {
  if (isBinary(bytes)) {
    throw new DocumentProblem("The file is named as a text but holds something else.");
  }
  builder.add(decodeText(bytes));
};

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
