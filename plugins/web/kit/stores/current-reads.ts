const mostReads = 3;

/**
 * Reads beside events: an answer that was on its way while an event told something newer would undo it, and is read
 * again instead.
 */
export class CurrentReads {
  #changes = 0;

  /** Called whenever something changes what an answer would show. */
  changed(): void {
    this.#changes += 1;
  }

  /** Resolves to an answer that no change has overtaken; where changes do not stop, to the third. */
  async read<T>(ask: () => Promise<T>): Promise<T> {
    for (let reads = 1; ; reads += 1) {
      const changes = this.#changes;
      const answer = await ask();
      if (changes === this.#changes || reads === mostReads) {
        return answer;
      }
    }
  }
}
