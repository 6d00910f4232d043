/** Milliseconds for which events wait for others. */
const longestHold = 100;

/**
 * Lets events wait until there are enough for a batch that pays: whoever joins seven deltas into one gains nothing by
 * seeing them one by one.
 */
export class Hold {
  readonly #atLeast: number;
  readonly #mark: string;
  readonly #over: () => void;
  #count = 0;
  #timer: NodeJS.Timeout | undefined;

  /** Every event has `eventMark` in its bytes. `over` is called when events have waited long enough though they are too few. */
  constructor({ atLeast, eventMark }: { atLeast: number; eventMark: string }, over: () => void) {
    this.#atLeast = atLeast;
    this.#mark = eventMark;
    this.#over = over;
  }

  /** Takes a piece of an event stream; true when enough events wait. */
  add(piece: Buffer): boolean {
    if (this.#atLeast <= 1) {
      return true;
    }
    // Close enough: an event cut in two, or one whose text has the mark, makes a batch a little smaller or larger.
    const mark = this.#mark;
    for (let at = piece.indexOf(mark); at >= 0; at = piece.indexOf(mark, at + mark.length)) {
      this.#count += 1;
    }
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
