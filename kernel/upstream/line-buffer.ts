/** Bytes of a field name and its colon that a line has beyond its value. */
const fieldName = 16;

/** The bytes behind the last line end, in one growing buffer: pieces of one byte each cost no more than large ones. */
export class LineBuffer {
  /** Bytes of the unfinished line, whether they were kept or not. */
  seen = 0;

  readonly #keepLimit: number;
  #buffer = Buffer.alloc(0);
  #size = 0;

  /** Of a line that grows beyond `softLimit` only as much is kept as shows that it did. */
  constructor(softLimit: number) {
    this.#keepLimit = softLimit + fieldName;
  }

  keep(piece: Buffer): void {
    this.seen += piece.length;
    if (this.#size > this.#keepLimit) {
      return;
    }
    const needed = this.#size + piece.length;
    if (needed > this.#buffer.length) {
      const larger = Buffer.allocUnsafe(Math.max(1024, 2 * needed));
      this.#buffer.copy(larger, 0, 0, this.#size);
      this.#buffer = larger;
    }
    piece.copy(this.#buffer, this.#size);
    this.#size = needed;
  }

  /** The unfinished line with what completes it; the tail is empty afterwards. */
  takeWith(end: Buffer): Buffer {
    if (this.#size === 0) {
      return end;
    }
    const whole = Buffer.concat([this.#buffer.subarray(0, this.#size), end]);
    this.#size = 0;
    this.seen = 0;
    if (this.#buffer.length > 65_536) {
      this.#buffer = Buffer.alloc(0);
    }
    return whole;
  }
}
