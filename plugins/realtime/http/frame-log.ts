/** One frame on its way to a client, with the number under which the client says that it has it. */
export interface NumberedFrame {
  readonly number: number;
  readonly text: string;
}

/** Frames that were sent stay this long in sight of a client that comes back: about what a break of a minute misses. */
const keptBytes = 1024 * 1024;

/** The frames of one client, numbered from 1, until it has them. */
export class FrameLog {
  #frames: (NumberedFrame & { readonly bytes: number })[] = [];
  #last = 0;
  /** The last frame that was handed to an answer. */
  #sent = 0;
  #bytes = 0;
  #unsentBytes = 0;

  /** Bytes that no answer has taken yet. */
  get unsentBytes(): number {
    return this.#unsentBytes;
  }

  add(text: string): void {
    const bytes = Buffer.byteLength(text);
    this.#last += 1;
    this.#frames.push({ number: this.#last, text, bytes });
    this.#bytes += bytes;
    this.#unsentBytes += bytes;
    while (this.#bytes > keptBytes && (this.#frames[0]?.number ?? Infinity) <= this.#sent) {
      this.#drop();
    }
  }

  /** Whether all that came after this frame is still there. */
  has(number: number): boolean {
    return number <= this.#last && number >= (this.#frames[0]?.number ?? this.#last + 1) - 1;
  }

  /** The client has the frames up to this one. */
  confirm(number: number): void {
    while ((this.#frames[0]?.number ?? Infinity) <= number) {
      this.#drop();
    }
  }

  /** The frames after this one, which count as sent from now on. */
  takeAfter(number: number): readonly NumberedFrame[] {
    const frames = this.#frames.filter((frame) => frame.number > number);
    this.#sent = this.#last;
    this.#unsentBytes = 0;
    return frames;
  }

  #drop(): void {
    const frame = this.#frames.shift();
    this.#bytes -= frame?.bytes ?? 0;
    this.#unsentBytes -= frame && frame.number > this.#sent ? frame.bytes : 0;
  }
}
