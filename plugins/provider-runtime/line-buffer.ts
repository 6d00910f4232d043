import { AppError } from "#kernel/errors.ts";
import { LineTail } from "#kernel/upstream/line-tail.ts";

const newline = 10;

export interface LineLimits {
  /** Bytes beyond which a line is left out; undefined keeps all. Contract D.21. */
  readonly softLimit?: number | undefined;
  /** Bytes of one line beyond which the stream is given up. */
  readonly hardLimit: number;
}

/** Splits bytes into lines, however they are cut; a line is decoded only when it is complete, so no character is cut. */
export class LineBuffer {
  /** Lines that were left out because they exceeded the soft limit. */
  dropped = 0;

  readonly #softLimit: number;
  readonly #hardLimit: number;
  readonly #tail: LineTail;
  #text = "";
  #at = 0;

  constructor({ softLimit = Infinity, hardLimit }: LineLimits) {
    this.#softLimit = softLimit;
    this.#hardLimit = hardLimit;
    this.#tail = new LineTail(softLimit);
  }

  /** True while complete lines wait for `take`. */
  get hasMore(): boolean {
    return this.#at < this.#text.length;
  }

  /** Takes one piece of the body. Throws `upstream` when a line grows beyond the hard limit. */
  push(piece: Buffer): void {
    const last = piece.lastIndexOf(newline);
    if (last >= 0) {
      this.#append(this.#tail.takeWith(piece.subarray(0, last + 1)));
    }
    if (last + 1 < piece.length) {
      this.#tail.keep(piece.subarray(last + 1));
      if (this.#tail.seen > this.#hardLimit) {
        throw new AppError("upstream", `The provider sent a line of more than ${this.#hardLimit} bytes.`);
      }
    }
  }

  /** Tells that the body ended: a last line without its end counts as one. */
  end(): void {
    if (this.#tail.seen > 0) {
      this.#append(this.#tail.takeWith(Buffer.from("\n")));
    }
  }

  /** The next line without its end; undefined when none is complete. */
  take(): string | undefined {
    while (this.hasMore) {
      const start = this.#at;
      const stop = this.#text.indexOf("\n", start);
      this.#at = stop + 1;
      const line = this.#text.slice(start, stop);
      if (!this.hasMore) {
        this.#text = "";
        this.#at = 0;
      }
      if (this.#softLimit === Infinity || Buffer.byteLength(line) <= this.#softLimit) {
        return line;
      }
      this.dropped += 1;
    }
    return undefined;
  }

  #append(bytes: Buffer): void {
    this.#text = this.hasMore ? this.#text.slice(this.#at) + bytes.toString("utf8") : bytes.toString("utf8");
    this.#at = 0;
  }
}
