/** A table as comma-separated values. A text that a spreadsheet would take for a formula is marked as text. */
export function toCsv(lines: readonly (readonly (string | number | null)[])[]): string {
  return lines.map((line) => `${line.map(toCell).join(",")}\r\n`).join("");
}

function toCell(value: string | number | null): string {
  if (typeof value !== "string") {
    return value === null ? "" : String(value);
  }
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
