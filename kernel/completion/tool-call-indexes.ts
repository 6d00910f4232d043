import type { ToolCallDelta } from "./chunk.ts";

interface Call {
  readonly index: number;
  readonly id: string | undefined;
  readonly name: string;
  text: string;
}

/**
 * Gives every tool call of one choice an index of its own. Some upstreams leave the index out or use one index for
 * several calls; then a new id with a name, or a name behind complete arguments, begins a new call. Protocols C, O2.
 */
export class ToolCallIndexes {
  readonly #byIndex = new Map<number, Call>();
  #count = 0;
  #last: Call | undefined;

  /** Sets the index of each piece, in place; `index` may be missing before. */
  assign(pieces: readonly ToolCallDelta[]): void {
    for (const piece of pieces) {
      const call = this.#find(piece, piece.index as number | undefined);
      call.text += textOf(piece.function?.arguments);
      piece.index = call.index;
      this.#last = call;
    }
  }

  #find(piece: ToolCallDelta, index: number | undefined): Call {
    const known = index === undefined ? this.#last : this.#byIndex.get(index);
    if (known !== undefined && !beginsAnother(piece, known)) {
      return known;
    }
    const call = {
      index: this.#count,
      id: piece.id,
      name: piece.function?.name ?? "",
      text: "",
    };
    this.#count += 1;
    if (index !== undefined) {
      this.#byIndex.set(index, call);
    }
    return call;
  }
}

/** A new id alone says nothing: some servers make one up for every piece. */
function beginsAnother({ id, function: called }: ToolCallDelta, known: Call): boolean {
  const name = called?.name;
  if (!name) {
    return false;
  }
  if (id) {
    return known.id ? id !== known.id : known.name !== "";
  }
  return known.name !== "" && (name !== known.name || (isWhole(known.text) && Boolean(called.arguments)));
}

function isWhole(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function textOf(value: unknown): string {
  return typeof value === "string"
    ? value
    : value === undefined || value === null
      ? ""
      : JSON.stringify(value);
}
