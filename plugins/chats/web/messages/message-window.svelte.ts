/** Guess for rows that were never shown. */
const guess = 180;
const overscan = 700;
const nearEnd = 48;
/** Past every list: rows that are not measured yet make its height a guess. */
export const farBelow = 1e9;

/**
 * Which rows of a long list are in the page. Rows keep the height they were measured with, so a chat of thousands of
 * messages opens at its end with a handful of them, and what is in sight stays where it is when a row above changes.
 */
export class MessageWindow {
  readonly #ids: () => readonly string[];
  readonly #heights = new Map<string, number>();
  #measured = $state(0);
  #top = $state(0);
  #lastTop = 0;
  #lastHeight = 0;
  viewHeight = $state(globalThis.innerHeight ?? 800);
  /** The reader is at the end and stays there. */
  isAtEnd = $state(true);

  readonly #offsets = $derived.by(() => {
    void this.#measured;
    const offsets = [0];
    for (const id of this.#ids()) {
      offsets.push((offsets.at(-1) ?? 0) + (this.#heights.get(id) ?? guess));
    }
    return offsets;
  });
  readonly total = $derived(this.#offsets.at(-1) ?? 0);
  readonly #from = $derived(this.isAtEnd ? Math.max(0, this.total - this.viewHeight) : this.#top);
  readonly first = $derived(this.indexAt(this.#from - overscan));
  readonly last = $derived.by(() =>
    Math.min(this.#ids().length, this.indexAt(this.#from + this.viewHeight + overscan) + 1),
  );
  readonly before = $derived(this.#offsets[this.first] ?? 0);
  readonly after = $derived(this.total - (this.#offsets[this.last] ?? this.total));

  constructor(ids: () => readonly string[]) {
    this.#ids = ids;
  }

  /** The row at a distance from the top of the list. */
  indexAt(distance: number): number {
    let low = 0;
    let high = Math.max(0, this.#ids().length - 1);
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((this.#offsets[middle] ?? 0) <= distance) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    return low;
  }

  offsetOf(index: number): number {
    return this.#offsets[index] ?? 0;
  }

  /** Takes heights of rows; returns where the scroller belongs so that nothing in sight moves. */
  measure(rows: readonly (readonly [string, number])[], top: number): number {
    const anchor = this.indexAt(top);
    const within = top - this.offsetOf(anchor);
    for (const [id, height] of rows) {
      this.#heights.set(id, height);
    }
    this.#measured += 1;
    return this.isAtEnd ? farBelow : this.offsetOf(anchor) + within;
  }

  /** Only going up in a list that stays as high as it was leaves the end: rows that turn out lower pull up as well. */
  scrolled({ scrollTop, scrollHeight, clientHeight }: Element): void {
    if (scrollHeight - scrollTop - clientHeight < nearEnd) {
      this.isAtEnd = true;
    } else if (scrollTop < this.#lastTop - 2 && scrollHeight === this.#lastHeight) {
      this.isAtEnd = false;
    }
    this.#lastTop = scrollTop;
    this.#lastHeight = scrollHeight;
    this.#top = scrollTop;
  }
}
