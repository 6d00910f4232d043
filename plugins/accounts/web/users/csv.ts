/** The cells of a CSV text (RFC 4180): commas or semicolons, quoted cells, any line ends. Empty lines are left out. */
export function parseCsv(text: string): string[][] {
  const content = text.replace(/^\uFEFF/, "");
  const firstLine = content.slice(0, Math.max(0, content.search(/[\r\n]|$/)));
  const separator = firstLine.includes(";") && !firstLine.includes(",") ? ";" : ",";
  const rows: string[][] = [];
  let row: string[] = [];
  let cell = "";
  let isQuoted = false;
  const endCell = () => {
    row.push(cell);
    cell = "";
  };
  const endRow = () => {
    endCell();
    if (row.some((each) => each.trim() !== "")) {
      rows.push(row);
    }
    row = [];
  };
  for (let at = 0; at < content.length; at += 1) {
    const character = content[at] as string;
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
  readonly name: string;
  readonly email: string;
  readonly password: string;
  readonly role: string;
}

const columns = ["name", "email", "password", "role"] as const;
const otherNames: Readonly<Record<string, (typeof columns)[number]>> = {
  "e-mail": "email",
  "e-mail address": "email",
};

/** The accounts of a CSV text; its first line names the columns. Undefined when it names no name, email and password. */
export function readUsers(text: string): ImportedUser[] | undefined {
  const [head = [], ...rows] = parseCsv(text);
  const names = head.map((each) => each.trim().toLowerCase()).map((each) => otherNames[each] ?? each);
  const place = (column: (typeof columns)[number]) => names.indexOf(column);
  if (columns.slice(0, 3).some((column) => place(column) < 0)) {
    return undefined;
  }
  const read = (row: readonly string[], column: (typeof columns)[number]) => row[place(column)] ?? "";
  return rows.map((row) => ({
    name: read(row, "name").trim(),
    email: read(row, "email").trim(),
    password: read(row, "password"),
    role: read(row, "role").trim(),
  }));
}
