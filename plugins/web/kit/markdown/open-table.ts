import type { Token, Tokens } from "marked";
import type { Block, OpenRead } from "./block.ts";

/** Rows that are read together when many come at once. */
const mostAtOnce = 32_000;

/** A long table that is still being written. Each row is read once, with the head before it. */
export class OpenTable {
  readonly #at: number;
  readonly #head: string;
  readonly #lex: (text: string) => readonly Token[];
  readonly #rows: Tokens.TableCell[][] = [];
  #readTo: number;

  constructor(at: number, source: string, lex: (text: string) => readonly Token[]) {
    this.#at = at;
    this.#head = /^[^\n]*\n[^\n]*\n/.exec(source)?.[0] ?? "";
    this.#lex = lex;
    this.#readTo = at + this.#head.length;
  }

  read(text: string, isComplete: boolean): OpenRead {
    let work = this.#head.length;
    let shown = this.#readRows("");
    for (;;) {
      const limit = this.#readTo + mostAtOnce;
      const lastBreak = text.lastIndexOf("\n", limit);
      const isLast = isComplete && limit >= text.length;
      const lines = text.slice(this.#readTo, isLast ? text.length : Math.max(this.#readTo, lastBreak + 1));
      if (lines === "") {
        return { block: this.#toBlock(text, shown, isComplete), end: undefined, work };
      }
      work += this.#head.length + lines.length;
      shown = this.#readRows(lines);
      const rows = shown?.rows ?? [];
      this.#rows.push(...rows);
      const taken = lines.split("\n", rows.length).reduce((sum, line) => sum + line.length + 1, 0);
      this.#readTo = Math.min(this.#readTo + taken, text.length);
      if (taken < lines.length) {
        // A line that is no row, or an empty one, ends the table.
        return { block: this.#toBlock(text, shown, true), end: this.#readTo, work };
      }
    }
  }

  #readRows(lines: string): Tokens.Table | undefined {
    const [first] = this.#lex(this.#head + lines);
    return first?.type === "table" ? (first as Tokens.Table) : undefined;
  }

  #toBlock(text: string, shown: Tokens.Table | undefined, isClosed: boolean): Block {
    // The list of rows is the same one each time; a table beyond it is a new object, which tells that it grew.
    const token = { ...shown, type: "table", rows: this.#rows } as Token;
    return { at: this.#at, source: text.slice(this.#at, this.#readTo), tokens: [token], isClosed };
  }
}
