const lineEnd = 10;

/** Bytes of an unfinished line that are held back; of a longer one readers see the half when it breaks off. */
const longest = 1024 * 1024;

/**
 * Holds an unfinished line back until the rest of it comes. A reader of events gains nothing by half of one, and when
 * the sender breaks off in the middle of it, what follows can say so without being taken for its other half.
 */
export class WholeLines {
  #held: Buffer[] = [];
  #size = 0;

  /** What can go on now, in pieces. */
  take(piece: Buffer): readonly Buffer[] {
    const end = piece[piece.length - 1] === lineEnd ? piece.length : piece.lastIndexOf(lineEnd) + 1;
    if (end === 0 && this.#size + piece.length <= longest) {
      this.#keep(piece);
      return none;
    }
    const before = this.rest();
    if (end === 0 || end === piece.length) {
      return [...before, piece];
    }
    this.#keep(piece.subarray(end));
    return [...before, piece.subarray(0, end)];
  }

  /** What was held back. */
  rest(): readonly Buffer[] {
    const held = this.#held;
    this.#held = [];
    this.#size = 0;
    return held;
  }

  #keep(piece: Buffer): void {
    this.#held.push(piece);
    this.#size += piece.length;
  }
}

const none: readonly Buffer[] = [];
