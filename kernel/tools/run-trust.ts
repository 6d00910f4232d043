/** Foreign text that has entered a run: from then on acting tools ask. */
export interface RunTrust {
  /** Where the first of it came from, as people know it; undefined while there is none. */
  readonly source: string | undefined;
  note(source: string): void;
}

/** `source` is the foreign text that a run begins with. */
export function createRunTrust(source?: string): RunTrust {
  let first = source;
  return {
    get source() {
      return first;
    },
    note(found) {
      first ??= found;
    },
  };
}
