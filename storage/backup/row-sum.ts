import { createHash } from "node:crypto";

const modulus = 2n ** 128n;

/** A sum over rows that does not depend on their order: equal sums mean equal rows, each as often. */
export class RowSum {
  #rows = 0;
  #sum = 0n;

  get rows(): number {
    return this.#rows;
  }

  /** The row as one line of an archive. */
  add(line: string): void {
    this.#rows += 1;
    const digest = createHash("sha256").update(line).digest();
    this.#sum = (this.#sum + digest.readBigUInt64BE(0) * 2n ** 64n + digest.readBigUInt64BE(8)) % modulus;
  }

  /** 32 hexadecimal digits. */
  toString(): string {
    return this.#sum.toString(16).padStart(32, "0");
  }
}
