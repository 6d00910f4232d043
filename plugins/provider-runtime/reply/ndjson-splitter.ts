import { AppError } from "#kernel/errors.ts";
import { LineBuffer } from "#kernel/upstream/line-buffer.ts";

const newline = 10;

/** Splits bytes into lines, however they are cut; a line is decoded only when it is complete, so no character is cut. */
export class NdjsonSplitter {
  readonly #hardLimit: number;
  readonly #tail = new LineBuffer(Infinity);
  #text = "";
  #at = 0;

  /** `hardLimit`: bytes of one line beyond which the stream is given up. */
  constructor({ hardLimit }: { readonly hardLimit: number }) {
    this.#hardLimit = hardLimit;
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
    if (!this.hasMore) {
      return undefined;
    }
    const start = this.#at;
    const stop = this.#text.indexOf("\n", start);
    this.#at = stop + 1;
    const line = this.#text.slice(start, stop);
    if (!this.hasMore) {
      this.#text = "";
      this.#at = 0;
    }
    return line;
  }

  #append(bytes: Buffer): void {
    this.#text = this.hasMore ? this.#text.slice(this.#at) + bytes.toString("utf8") : bytes.toString("utf8");
    this.#at = 0;
  }
}
