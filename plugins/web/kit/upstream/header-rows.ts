/** A header while it is being written; its identity keeps what is typed when rows come and go. */
export interface HeaderRow {
  readonly id: number;
  name: string;
  value: string;
}

export type HeaderProblem = "headerName" | "headerValue";

let lastRow = 0;

export const toRow = (name = "", value = ""): HeaderRow => ({ id: (lastRow += 1), name, value });

/** Rows without a name are left out. */
export function toHeaders(rows: readonly HeaderRow[]): Record<string, string> {
  const named = rows.filter(({ name }) => name.trim() !== "");
  return Object.fromEntries(named.map(({ name, value }) => [name.trim(), value]));
}

/** `isMoved` is true where the address is another than the stored one: masked values then lead nowhere. */
export function findHeaderProblem(rows: readonly HeaderRow[], isMoved: boolean): HeaderProblem | undefined {
  const names = rows.map(({ name }) => name.trim()).filter((name) => name !== "");
  if (names.some((name) => !/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/.test(name))) {
    return "headerName";
  }
  return isMoved && rows.some(({ value }) => value.includes("…")) ? "headerValue" : undefined;
}
