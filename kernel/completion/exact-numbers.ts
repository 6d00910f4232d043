/** A number whose digits would be lost when it is parsed and written again, such as 1.0, 1e400 or a large integer. */
class ExactNumber {
  readonly value: number;
  readonly source: string;

  constructor(value: number, source: string) {
    this.value = value;
    this.source = source;
  }

  /** Whether `value` is what became of the number: JSON has no infinity, so that it comes back as null. */
  matches(value: unknown): boolean {
    return value === this.value || (value === null && !Number.isFinite(this.value));
  }
}

type Raw = typeof JSON & { rawJSON(text: string): unknown };
type Bag = Record<string, unknown>;

/** Text that may hold such a number; a text without it needs no second look. */
const hint = /[[:,]\s*-(?:0\b)|[[:,]\s*-?\d*(?:\d{16}|\d[eE]|\.\d*0(?!\d)|\.\d{16})/;

/** The numbers of a JSON text that have to reach an upstream digit for digit. Contract D.38. */
export class ExactNumbers {
  /** The parsed text without everything else. */
  readonly #tree: unknown;

  /** The request was translated into another shape since. */
  readonly #isTranslated: boolean;

  private constructor(tree: unknown, isTranslated = false) {
    this.#tree = tree;
    this.#isTranslated = isTranslated;
  }

  /** The same numbers for a request of another format: `restore` finds integers beyond 2^53 wherever they stand. */
  translated(): ExactNumbers {
    return new ExactNumbers(this.#tree, true);
  }

  /** Undefined for a text without such numbers, which nearly all are. */
  static read(text: string | undefined): ExactNumbers | undefined {
    if (text === undefined || !hint.test(text)) {
      return undefined;
    }
    try {
      const tree: unknown = JSON.parse(text, keepExact);
      return tree === undefined ? undefined : new ExactNumbers(tree);
    } catch {
      return undefined;
    }
  }

  /** The value with the sources of its numbers, ready for JSON.stringify; numbers that were changed stay as they are. */
  restore<T>(value: T): T {
    return this.#isTranslated ? this.restoreAnywhere(value) : (restore(value, this.#tree) as T);
  }

  /** The same for a value of another shape: integers beyond 2^53 are found again wherever they stand. */
  restoreAnywhere<T>(value: T): T {
    const sources = new Map<number, string>();
    collect(this.#tree, sources);
    return (sources.size === 0 ? value : restoreKnown(value, sources)) as T;
  }
}

/** The JSON of a body that was read from `source` and perhaps changed since. */
export function toExactJson(body: unknown, source: string | undefined): string {
  const numbers = ExactNumbers.read(source);
  return JSON.stringify(numbers ? numbers.restore(body) : body);
}

function keepExact(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  if (typeof value === "number") {
    const source = context?.source ?? "";
    return String(value) === source ? undefined : new ExactNumber(value, source);
  }
  return typeof value === "object" && value !== null && Object.keys(value).length > 0 ? value : undefined;
}

function restore(value: unknown, tree: unknown): unknown {
  if (tree instanceof ExactNumber) {
    return tree.matches(value) ? (JSON as Raw).rawJSON(tree.source) : value;
  }
  if (typeof value !== "object" || value === null || Array.isArray(value) !== Array.isArray(tree)) {
    return value;
  }
  const copy = (Array.isArray(value) ? [...(value as unknown[])] : { ...value }) as Bag;
  for (const [key, part] of Object.entries(tree as Bag)) {
    const at = Array.isArray(value) ? findPlace(value, Number(key), part) : key;
    if (at !== undefined && Object.hasOwn(copy, at)) {
      copy[at] = restore(copy[at], part);
    }
  }
  return copy;
}

/** Filters and tools put entries into lists: an entry that was moved is known by its numbers. */
function findPlace(list: readonly unknown[], position: number, tree: unknown): number | undefined {
  if (fits(list[position], tree)) {
    return position;
  }
  const found = list.findIndex((entry) => fits(entry, tree));
  return found < 0 ? undefined : found;
}

function fits(value: unknown, tree: unknown): boolean {
  if (tree instanceof ExactNumber) {
    return tree.matches(value);
  }
  return (
    typeof value === "object" &&
    value !== null &&
    Object.entries(tree as Bag).every(([key, part]) => fits((value as Bag)[key], part))
  );
}

function collect(tree: unknown, sources: Map<number, string>): void {
  if (tree instanceof ExactNumber) {
    if (Number.isInteger(tree.value) && !Number.isSafeInteger(tree.value)) {
      sources.set(tree.value, tree.source);
    }
    return;
  }
  Object.values(tree as Bag).forEach((part) => collect(part, sources));
}

function restoreKnown(value: unknown, sources: ReadonlyMap<number, string>): unknown {
  if (typeof value === "number") {
    const source = sources.get(value);
    return source === undefined ? value : (JSON as Raw).rawJSON(source);
  }
  if (Array.isArray(value)) {
    return value.map((part) => restoreKnown(part, sources));
  }
  return typeof value === "object" && value !== null
    ? Object.fromEntries(Object.entries(value).map(([key, part]) => [key, restoreKnown(part, sources)]))
    : value;
}
