/** One row of a CSV text. */
export interface CsvRow {
  /** The line on which it begins, as editors count: from 1, with empty lines and those inside quoted cells. */
  readonly line: number;
  readonly cells: readonly string[];
}

/** The rows of a CSV text (RFC 4180): commas or semicolons, quoted cells, any line ends. Empty lines are left out. */
export function parseCsv(text: string): CsvRow[] {
  const content = text.replace(/^\uFEFF/, "");
  const head = content.slice(0, Math.max(0, content.search(/[\r\n]|$/)));
  const separator = head.includes(";") && !head.includes(",") ? ";" : ",";
  const rows: CsvRow[] = [];
  let row: string[] = [];
  let line = 1;
  let firstLine = 1;
  let cell = "";
  let isQuoted = false;
  const endCell = () => {
    row.push(cell);
    cell = "";
  };
  const endRow = () => {
    endCell();
    if (row.some((each) => each.trim() !== "")) {
      rows.push({ line: firstLine, cells: row });
    }
    row = [];
    firstLine = line;
  };
  for (let at = 0; at < content.length; at += 1) {
    const character = content[at] as string;
    // A line ends with "\n", "\r" or both.
    if (character === "\n" || (character === "\r" && content[at + 1] !== "\n")) {
      line += 1;
    }
    if (isQuoted) {
      if (character !== '"') {
        cell += character;
      } else if (content[at + 1] === '"') {
        cell += '"';
        at += 1;
      } else {
        isQuoted = false;
      }
    } else if (character === '"' && cell === "") {
      isQuoted = true;
    } else if (character === separator) {
      endCell();
    } else if (character === "\n" || character === "\r") {
      endRow();
    } else {
      cell += character;
    }
  }
  endRow();
  return rows;
}

/** One account of a list. */
export interface ImportedUser {
  readonly line: number;
  readonly name: string;
  readonly email: string;
  readonly password: string;
  readonly role: string;
}

/** The role of an account for which nothing else is said, as in the form of a single one. */
export const defaultRole = "user";

const columns = ["name", "email", "password", "role"] as const;
const otherNames: Readonly<Record<string, (typeof columns)[number]>> = {
  "e-mail": "email",
  "e-mail address": "email",
};

/** The accounts of a CSV text, and the titles of columns that none of them takes. */
export interface UserList {
  readonly users: readonly ImportedUser[];
  readonly unused: readonly string[];
}

/** The accounts of a CSV text; its first line names the columns. Undefined when it names no name and email. */
export function readUsers(text: string): UserList | undefined {
  const [head, ...rows] = parseCsv(text);
  const names = (head?.cells ?? [])
    .map((each) => each.trim().toLowerCase())
    .map((each) => otherNames[each] ?? each);
  const place = (column: (typeof columns)[number]) => names.indexOf(column);
  if (columns.slice(0, 2).some((column) => place(column) < 0)) {
    return undefined;
  }
  const read = (row: readonly string[], column: (typeof columns)[number]) => row[place(column)] ?? "";
  const isUsed = (name: string | undefined, at: number) =>
    columns.some((column) => column === name) && names.indexOf(name ?? "") === at;
  const unused = (head?.cells ?? [])
    .map((cell) => cell.trim())
    .filter((cell, at) => cell !== "" && !isUsed(names[at], at));
  const users = rows.map(({ line, cells: row }) => ({
    line,
    name: read(row, "name").trim(),
    email: read(row, "email").trim(),
    password: read(row, "password"),
    role: read(row, "role").trim() || defaultRole,
  }));
  return { users, unused };
}
