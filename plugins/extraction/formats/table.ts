import type { TextBuilder } from "./text-builder.ts";

/**
 * Writes the rows of a table as lines that stand for themselves: each value behind the name of its column, because a
 * passage is read without the rows above it. A table without names keeps its cells side by side.
 */
export class TableWriter {
  readonly #builder: TextBuilder;
  #header: readonly string[] | undefined;
  #isDecided = false;

  constructor(builder: TextBuilder) {
    this.#builder = builder;
  }

  row(given: readonly string[]): void {
    const cells = given.map(toLine);
    const filled = cells.filter((cell) => cell !== "");
    if (filled.length === 0) {
      return;
    }
    if (!this.#isDecided && filled.length > 1) {
      this.#isDecided = true;
      if (isHeader(filled)) {
        this.#header = cells;
        this.#builder.add(`${filled.join(" | ")}\n`);
        return;
      }
    }
    this.#builder.add(`${this.#header ? named(cells, this.#header) : filled.join(" | ")}\n`);
  }
}

function named(cells: readonly string[], header: readonly string[]): string {
  return cells
    .map((cell, at) => (cell === "" || !header[at] ? cell : `${header[at]}: ${cell}`))
    .filter((cell) => cell !== "")
    .join("; ");
}

function isHeader(cells: readonly string[]): boolean {
  return (
    new Set(cells).size === cells.length &&
    cells.every((cell) => cell.length <= 100 && !/^[-+]?[\d.,:/ %-]+$/.test(cell))
  );
}

function toLine(cell: string): string {
  return cell.replace(/\s+/g, " ").trim();
}
