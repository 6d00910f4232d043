type Bag = Readonly<Record<string, unknown>>;

interface Changes {
  /** The stored values that the person has seen. */
  readonly seen: Bag;
  /** The stored values of now. */
  readonly stored: Bag;
  readonly typed: Bag;
}

interface Joined {
  /** Values to store: the typed ones, and those that only others changed. */
  readonly joined: Bag;
  /** Names of the values that both changed, and not to the same. */
  readonly clashes: readonly string[];
  /** Values that the person has seen once the clashes are shown; the others' remaining changes stay unseen. */
  readonly seen: Bag;
}

/** Joins what is typed with what others stored since the person read it. */
export function joinChanges({ seen, stored, typed }: Changes): Joined {
  const theirs = Object.keys(typed).filter((name) => !isSame(seen[name], stored[name]));
  const isMine = (name: string) => !isSame(typed[name], seen[name]);
  const clashes = theirs.filter((name) => isMine(name) && !isSame(typed[name], stored[name]));
  const taken = theirs.filter((name) => !isMine(name));
  return {
    joined: { ...typed, ...pick(stored, taken) },
    clashes,
    seen: { ...stored, ...pick(seen, taken) },
  };
}

const pick = (from: Bag, names: readonly string[]): Bag =>
  Object.fromEntries(names.map((name) => [name, from[name]]));

/** What is missing, null and empty look the same in a form. */
const isSame = (one: unknown, other: unknown): boolean =>
  JSON.stringify(one ?? "") === JSON.stringify(other ?? "");
