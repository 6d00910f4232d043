/** A text of a tool, in the form in which people read it best. */
export type AnswerShape =
  | {
      readonly kind: "table";
      readonly json: string;
      readonly columns: readonly string[];
      readonly rows: readonly (readonly string[])[];
    }
  | { readonly kind: "json"; readonly json: string }
  | { readonly kind: "markdown" }
  | { readonly kind: "text" };

/** Beyond this a text is shown as it is: parsing it would hold the page up. */
const longestJson = 500_000;
const mostColumns = 8;
const mostRows = 200;

/** Looks at what a tool was given or answered. */
export function shapeOf(text: string): AnswerShape {
  const value = /^\s*[[{]/.test(text) && text.length <= longestJson ? parse(text) : undefined;
  if (typeof value === "object" && value !== null) {
    const json = toJson(value);
    const table = toTable(value);
    return table ? { kind: "table", json, ...table } : { kind: "json", json };
  }
  return isMarkdown(text) ? { kind: "markdown" } : { kind: "text" };
}

const longestLine = 72;

/** JSON on one line where it is short, else with line breaks. */
function toJson(value: object): string {
  const lines = JSON.stringify(value, null, 2);
  const line = lines.replaceAll(/\n\s*/g, " ");
  return line.length <= longestLine ? line : lines;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

type Row = Readonly<Record<string, unknown>>;

/** Two or more objects of plain values, alone or as the only list of an object, are rows. */
function toTable(value: object): { columns: string[]; rows: string[][] } | undefined {
  const lists = Array.isArray(value) ? [value] : Object.values(value).filter((one) => Array.isArray(one));
  const [list] = lists as unknown[][];
  if (lists.length !== 1 || list === undefined || list.length < 2 || !list.every(isFlat)) {
    return undefined;
  }
  const others = Array.isArray(value) ? 0 : Object.keys(value).length - 1;
  const columns = [...new Set((list as Row[]).flatMap((row) => Object.keys(row)))];
  if (others > 0 || columns.length === 0 || columns.length > mostColumns) {
    return undefined;
  }
  const rows = (list as Row[]).slice(0, mostRows).map((row) => columns.map((name) => toCell(row[name])));
  return { columns, rows };
}

const isFlat = (row: unknown): row is Row =>
  typeof row === "object" &&
  row !== null &&
  !Array.isArray(row) &&
  Object.values(row).every((cell) => typeof cell !== "object" || cell === null);

const toCell = (value: unknown): string => (value === null || value === undefined ? "" : String(value));

/** Headings, fences, tables, several list items or links: enough signs that marks are meant. */
function isMarkdown(text: string): boolean {
  return (
    /^#{1,6} \S/m.test(text) ||
    /^```/m.test(text) ||
    /^\|.+\|\s*\n\|[\s:|-]+\|/m.test(text) ||
    (text.match(/^[^\S\n]{0,20}(?:[-*]|\d{1,9}\.) \S/gm)?.length ?? 0) >= 3 ||
    /\[[^[\]\n]{1,500}\]\(https?:\/\/[^)\s]{1,2000}\)/.test(text)
  );
}
