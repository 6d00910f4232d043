import { StringDecoder } from "node:string_decoder";

/** Keeps the beginning and the end of a long output. */
export class TailBuffer {
  /** Bytes that came in. */
  size = 0;
  readonly #half: number;
  readonly #decoder = new StringDecoder("utf8");
  #head = "";
  #tail = "";
  #dropped = 0;

  /** `chars` is the number of characters that are kept. */
  constructor(chars: number) {
    this.#half = Math.floor(chars / 2);
  }

  add(bytes: Buffer): void {
    this.size += bytes.length;
    let text = this.#decoder.write(bytes);
    const room = this.#half - this.#head.length;
    if (room > 0) {
      this.#head += text.slice(0, room);
      text = text.slice(room);
    }
    this.#tail += text;
    if (this.#tail.length > this.#half * 2) {
      this.#dropped += this.#tail.length - this.#half;
      this.#tail = this.#tail.slice(-this.#half);
    }
  }

  text(): string {
    const end = this.#tail.slice(-this.#half);
    const dropped = this.#dropped + this.#tail.length - end.length;
    return dropped > 0 ? `${this.#head}\n[… ${dropped} characters left out …]\n${end}` : this.#head + end;
  }
}
