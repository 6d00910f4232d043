import { parse } from "secure-json-parse";
import { AppError } from "#kernel/errors.ts";

/** Deeper nesting than any honest body has; recursion further down stays far from the stack's end. */
const maxDepth = 200;

/**
 * Parses a request's JSON text. Throws `invalid` for broken JSON, for a `__proto__` key and for nesting beyond
 * 200 levels; the text names the reason, never the parser.
 */
export function parseJson(text: string): unknown {
  if (isTooDeep(text)) {
    throw new AppError("invalid", `The JSON body is nested deeper than ${maxDepth} levels.`);
  }
  try {
    return maySpellProto(text)
      ? parse(text, null, { protoAction: "error", constructorAction: "ignore" })
      : JSON.parse(text);
  } catch (error) {
    const isForbiddenKey = error instanceof SyntaxError && error.message.includes("forbidden prototype");
    const reason = isForbiddenKey
      ? "The JSON body has the key __proto__, which is not accepted."
      : "The body is not valid JSON.";
    throw new AppError("invalid", reason, { cause: error });
  }
}

/** Where the key cannot be, in whatever spelling, the search for it would cost as much as the parsing. */
function maySpellProto(text: string): boolean {
  return text.includes("__proto__") || text.includes("\\u") || text.charCodeAt(0) === byteOrderMark;
}

/** Which only the careful parser skips. */
const byteOrderMark = 0xfeff;

/** Writes JSON; integers beyond 2^53 (nanoseconds) are `bigint` in code and plain integers on the wire. */
export function toJson(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch (error) {
    // The common case pays nothing for big integers: only a value that holds one comes here.
    if (error instanceof TypeError && /bigint/i.test(error.message)) {
      return toJsonWithBigInts(value);
    }
    throw error;
  }
}

/** Like `toJson`, always by way of the replacer (ENABLE_ORJSON off). */
export function toJsonWithBigInts(value: unknown): string {
  return JSON.stringify(value, (_key, entry: unknown) =>
    typeof entry === "bigint" ? (JSON as RawJson).rawJSON(entry.toString()) : entry,
  );
}

type RawJson = typeof JSON & { rawJSON(text: string): unknown };

const quote = 34;
const backslash = 92;

/** Counts brackets outside strings without building anything. */
function isTooDeep(text: string): boolean {
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === quote) {
      at = endOfString(text, at);
    } else if (code === 91 || code === 123) {
      depth += 1;
      if (depth > maxDepth) {
        return true;
      }
    } else if (code === 93 || code === 125) {
      depth -= 1;
    }
  }
  return false;
}

function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (end !== -1 && isEscaped(text, end)) {
    end = text.indexOf('"', end + 1);
  }
  return end === -1 ? text.length : end;
}

function isEscaped(text: string, at: number): boolean {
  let slashes = 0;
  while (text.charCodeAt(at - 1 - slashes) === backslash) {
    slashes += 1;
  }
  return slashes % 2 === 1;
}
