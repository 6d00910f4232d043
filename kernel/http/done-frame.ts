const tailLength = 64;

/** Watches the end of a stream of the common format, which has to be `data: [DONE]`. Protocols C, O1. */
export class DoneFrame {
  /** The last characters that went out. */
  #tail = "";

  add(bytes: Buffer): void {
    const end = bytes.toString("latin1", Math.max(0, bytes.length - tailLength));
    this.#tail = end.length === tailLength ? end : (this.#tail + end).slice(-tailLength);
  }

  /** What is missing at the end of the stream; empty when the upstream sent it itself. */
  missing(): string {
    if (/(?:^|[\r\n])data: ?\[DONE\]/.test(this.#tail)) {
      return /(?:\r\n|[\r\n])$/.test(this.#tail) ? "" : "\n\n";
    }
    const isApart = this.#tail === "" || /(?:\n\n|\r\r|\r\n\r\n)$/.test(this.#tail);
    return `${isApart ? "" : "\n\n"}data: [DONE]\n\n`;
  }
}
