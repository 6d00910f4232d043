import { LineBuffer } from "#kernel/upstream/line-buffer.ts";

const newline = 10;
const carriageReturn = 13;

/** Bytes of an unfinished line that are held back; of a longer one readers see the half when it breaks off. */
const longest = 1024 * 1024;

const nothing = Buffer.alloc(0);

/**
 * Holds an unfinished line back until the rest of it comes. A reader of events gains nothing by half of one, and when
 * the sender breaks off in the middle of it, what follows can say so without being taken for its other half.
 */
export class LineSplitter {
  readonly #tail = new LineBuffer(longest);

  /** What can go on now; empty while a line is not whole. */
  take(piece: Buffer): Buffer {
    const end =
      piece[piece.length - 1] === newline
        ? piece.length
        : Math.max(piece.lastIndexOf(newline), piece.lastIndexOf(carriageReturn)) + 1;
    if (end === 0 && this.#tail.seen + piece.length <= longest) {
      this.#tail.keep(piece);
      return nothing;
    }
    if (end === 0 || end === piece.length) {
      return this.#tail.takeWith(piece);
    }
    const whole = this.#tail.takeWith(piece.subarray(0, end));
    this.#tail.keep(piece.subarray(end));
    return whole;
  }

  /** What was held back. */
  rest(): Buffer {
    return this.#tail.takeWith(nothing);
  }
}
