/** Result of reading a value: the value, or the problem in words that follow the variable's name. */
export type Parsed<T> =
  | { readonly value: T; readonly problem?: undefined }
  | { readonly problem: string; readonly value?: undefined };

/** A span of time: the text as it was written, and its length in milliseconds; null never ends. */
export interface Duration {
  readonly text: string;
  readonly ms: number | null;
}

const yes = new Set(["true", "1", "yes", "y", "on", "t"]);
const no = new Set(["false", "0", "no", "n", "off", "f"]);

const unitMs = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const;
const durationPart = /(\d+(?:\.\d+)?)\s*(ms|s|m|h|d|w)/g;
const durationText = /^(?:\d+(?:\.\d+)?\s*(?:ms|s|m|h|d|w)\s*)+$/;

/** Reads a truth value in any of the usual forms, whatever the case. */
export function parseBool(text: string): Parsed<boolean> {
  const word = text.trim().toLowerCase();
  if (yes.has(word)) {
    return { value: true };
  }
  return no.has(word) ? { value: false } : { problem: "must be true or false" };
}

/** Reads a whole number in decimal digits. */
export function parseInteger(text: string): Parsed<number> {
  const number = Number(text);
  return /^\s*[+-]?\d+\s*$/.test(text) && Number.isSafeInteger(number)
    ? { value: number }
    : { problem: "must be a whole number" };
}

/** Reads a finite decimal number. */
export function parseNumber(text: string): Parsed<number> {
  const number = Number(text);
  return /\d/.test(text) && !/[xob]/i.test(text) && Number.isFinite(number)
    ? { value: number }
    : { problem: "must be a number" };
}

/**
 * Splits a list and trims its entries. Commas separate plain lists, whose empty entries are dropped; semicolons
 * separate lists that are matched with one another by position, so there an empty entry keeps its place.
 */
export function parseList(text: string, separator: "," | ";"): Parsed<string[]> {
  const entries = text.split(separator).map((entry) => entry.trim());
  if (separator === ",") {
    return { value: entries.filter((entry) => entry !== "") };
  }
  return { value: entries.slice(0, entries.findLastIndex((entry) => entry !== "") + 1) };
}

/** Reads a JSON text. */
export function parseJson(text: string): Parsed<unknown> {
  try {
    return { value: JSON.parse(text) };
  } catch {
    // The parser's own message quotes the text, which may hold a secret.
    return { problem: "must be valid JSON" };
  }
}

/** Reads a sum of spans such as `1h30m`, `4w` or `500ms`; `-1` and `0` never end. */
export function parseDuration(text: string): Parsed<Duration> {
  const trimmed = text.trim().toLowerCase();
  if (trimmed === "-1" || trimmed === "0") {
    return { value: { text: trimmed, ms: null } };
  }
  if (!durationText.test(trimmed)) {
    return {
      problem: "must be a duration such as 30m, 1h30m or 4w (units ms, s, m, h, d, w), or -1 for never",
    };
  }
  let ms = 0;
  for (const [, amount, unit] of trimmed.matchAll(durationPart)) {
    ms += Number(amount) * unitMs[unit as keyof typeof unitMs];
  }
  ms = Math.round(ms);
  return ms > 0 && Number.isSafeInteger(ms)
    ? { value: { text: trimmed, ms } }
    : { problem: "must be a duration longer than nothing; -1 stands for never" };
}

/** Finds the listed value that the text names, whatever the case. */
export function parseChoice<T extends string>(text: string, values: readonly T[]): Parsed<T> {
  const wanted = text.trim().toLowerCase();
  const value = values.find((candidate) => candidate.toLowerCase() === wanted);
  return value === undefined ? { problem: `must be one of ${listed(values)}` } : { value };
}

/** The check of one address: empty, or with http or https before it. Returns what is wrong. */
export function checkAddress(text: string): string | undefined {
  return text === "" || (/^https?:\/\//i.test(text) && URL.canParse(text))
    ? undefined
    : "must be a full address that begins with http:// or https://";
}

/** The check of lists of origins: each entry is a scheme, a host and at most a port. Returns what is wrong. */
export function checkOrigins(entries: readonly string[]): string | undefined {
  const wrong = entries.find((entry) => !isOrigin(entry));
  return wrong === undefined
    ? undefined
    : `must list origins with their scheme, such as http://10.0.0.5:8000, which ${JSON.stringify(wrong)} is not`;
}

function isOrigin(entry: string): boolean {
  const url = URL.parse(entry);
  return (
    url !== null &&
    /^https?:$/.test(url.protocol) &&
    url.href === `${url.origin}/` &&
    /^https?:\/\//i.test(entry)
  );
}

function listed(values: readonly string[]): string {
  return values.map((value) => (value === "" ? "(empty)" : value)).join(", ");
}
