/** Milliseconds for which events wait for others: long enough for seven of a model that writes forty a second. */
const longestHold = 200;

/** Bytes of an event, more or less. */
const eventBytes = 512;

/**
 * Lets events wait until there are enough for a batch that pays: whoever joins seven deltas into one gains nothing by
 * seeing them one by one.
 */
export class DeltaBatcher {
  readonly #atLeast: number;
  readonly #over: () => void;
  #count = 0;
  #timer: NodeJS.Timeout | undefined;

  /** `over` is called when events have waited long enough though they are too few. */
  constructor(atLeast: number, over: () => void) {
    this.#atLeast = atLeast;
    this.#over = over;
  }

  /**
   * Takes a piece of an event stream; true when enough events wait. How many they are is guessed, for counting costs as
   * much as reading: a piece is an event where they come one by one, and its size tells where they do not.
   */
  add(piece: Buffer): boolean {
    if (this.#atLeast <= 1) {
      return true;
    }
    this.#count += 1 + Math.floor(piece.length / eventBytes);
    this.#timer ??= setTimeout(this.#over, longestHold);
    return this.#count >= this.#atLeast;
  }

  /** What waited was taken. */
  clear(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#count = 0;
  }
}
