import type { Tokens } from "marked";

/** A table as RFC 4180 has it. Cells that a spreadsheet would run as a formula begin with an apostrophe. */
export function toCsv({ header, rows }: Pick<Tokens.Table, "header" | "rows">): string {
  return [header, ...rows].map((row) => row.map(({ text }) => toCell(text)).join(",")).join("\r\n");
}

function toCell(text: string): string {
  const safe = /^[=+\-@\t]/.test(text) && Number.isNaN(Number(text)) ? `'${text}` : text;
  return /[",\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
