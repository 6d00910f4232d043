import { AppError } from "#kernel/errors.ts";
import { LineBuffer } from "./line-buffer.ts";

/** One event of a Server-Sent Events stream. */
export interface SseEvent {
  readonly data: string;
  /** The event's name; empty when it has none. */
  readonly name: string;
}

export interface SseLimits {
  /** Bytes of one event beyond which it is dropped; undefined keeps all. Contract D.21. */
  readonly softLimit?: number | undefined;
  /** Bytes of one event beyond which the stream is given up. */
  readonly hardLimit: number;
}

const newline = 10;
const carriageReturn = 13;
const space = 32;
const brace = 123;

/**
 * Splits bytes into events by the Server-Sent Events standard: any cut of the bytes, lines that end in LF, CRLF or CR,
 * comments, several data lines. A bare line of JSON counts as data, because broken upstreams print errors that way. A line is decoded only
 * when it is complete, so characters are never cut.
 */
export class SseParser {
  /** Events that were left out because they exceeded the soft limit. */
  dropped = 0;

  readonly #softLimit: number;
  readonly #hardLimit: number;
  readonly #tail: LineBuffer;
  /** What came since the last look: one socket read comes as many small pieces, which are read as one. */
  #pieces: Buffer[] = [];
  #text = "";
  #at = 0;
  #isFirst = true;
  /** True when the last piece ended in CR: an LF at the start of the next one belongs to it. */
  #endsInCr = false;
  #data: string | undefined;
  #name = "";
  /** Bytes of the current event so far. */
  #size = 0;

  constructor({ softLimit = Infinity, hardLimit }: SseLimits) {
    this.#softLimit = softLimit;
    this.#hardLimit = hardLimit;
    this.#tail = new LineBuffer(softLimit);
  }

  /** True while something waits for `take`. */
  get hasMore(): boolean {
    return this.#pieces.length > 0 || this.#at < this.#text.length;
  }

  /** Takes one piece of the body. */
  push(piece: Buffer): void {
    this.#pieces.push(piece);
  }

  /** Finds the whole lines of what came. */
  #read(): void {
    const [first] = this.#pieces;
    if (first === undefined) {
      return;
    }
    const piece = this.#withoutSplitEnd(this.#pieces.length === 1 ? first : Buffer.concat(this.#pieces));
    this.#pieces = [];
    const last = lastLineEnd(piece);
    if (last >= 0) {
      this.#append(this.#tail.takeWith(piece.subarray(0, last + 1)));
    }
    if (last + 1 < piece.length) {
      this.#tail.keep(piece.subarray(last + 1));
      this.#limit(this.#tail.seen);
    }
  }

  #withoutSplitEnd(piece: Buffer): Buffer {
    const rest = this.#endsInCr && piece[0] === newline ? piece.subarray(1) : piece;
    this.#endsInCr = rest.length === 0 ? false : rest[rest.length - 1] === carriageReturn;
    return rest;
  }

  /** Up to `max` complete events, in order. Throws `upstream` for an event or a line beyond the hard limit. */
  take(max: number): SseEvent[] {
    this.#read();
    const events: SseEvent[] = [];
    const text = this.#text;
    while (events.length < max) {
      const stop = text.indexOf("\n", this.#at);
      if (stop === -1) {
        this.#text = "";
        this.#at = 0;
        break;
      }
      const start = this.#at;
      this.#at = stop + 1;
      if (stop > start) {
        this.#line(text, start, stop);
      } else {
        this.#finish(events);
      }
    }
    return events;
  }

  /** Tells that the body ended: an event without its closing blank line counts as complete. */
  end(): void {
    this.push(Buffer.from("\n\n"));
  }

  #append(bytes: Buffer): void {
    let decoded = bytes.toString("utf8");
    if (this.#isFirst) {
      this.#isFirst = false;
      decoded = decoded.startsWith("\uFEFF") ? decoded.slice(1) : decoded;
    }
    decoded = decoded.includes("\r") ? decoded.replaceAll(/\r\n?/g, "\n") : decoded;
    this.#text = this.#at < this.#text.length ? this.#text.slice(this.#at) + decoded : decoded;
    this.#at = 0;
  }

  #line(text: string, start: number, end: number): void {
    if (text.startsWith("data:", start)) {
      this.#addData(text.slice(text.charCodeAt(start + 5) === space ? start + 6 : start + 5, end));
    } else if (text.startsWith("event:", start)) {
      this.#name = text.slice(start + 6, end).trim();
    } else if (text.charCodeAt(start) === brace) {
      this.#addData(text.slice(start, end));
    }
  }

  #addData(value: string): void {
    this.#size += this.#softLimit === Infinity ? value.length : Buffer.byteLength(value);
    this.#limit(this.#size);
    if (this.#size <= this.#softLimit) {
      this.#data = this.#data === undefined ? value : `${this.#data}\n${value}`;
    }
  }

  #finish(into: SseEvent[]): void {
    if (this.#size > this.#softLimit) {
      this.dropped += 1;
    } else if (this.#data !== undefined) {
      into.push({ data: this.#data, name: this.#name });
    }
    this.#data = undefined;
    this.#name = "";
    this.#size = 0;
  }

  #limit(bytes: number): void {
    if (bytes > this.#hardLimit) {
      throw new AppError("upstream", `The provider sent a frame of more than ${this.#hardLimit} bytes.`);
    }
  }
}

function lastLineEnd(piece: Buffer): number {
  return piece[piece.length - 1] === newline
    ? piece.length - 1
    : Math.max(piece.lastIndexOf(newline), piece.lastIndexOf(carriageReturn));
}
