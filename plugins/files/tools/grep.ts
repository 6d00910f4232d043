import { setImmediate as nextTurn } from "node:timers/promises";
import { RE2JS } from "re2js";

/** A line that fits a pattern. */
export interface Match {
  /** From 1. */
  readonly line: number;
  readonly content: string;
}

export interface GrepOptions {
  readonly ignoresCase: boolean;
  /** Matches that are kept; all are counted. */
  readonly limit: number;
  readonly signal: AbortSignal;
}

/** Tests one line. */
export type LineTest = (line: string) => boolean;

/**
 * The test of a pattern in RE2 syntax; what is no pattern is searched for as it stands. Time grows with the length of
 * the line and never faster, whatever the pattern is, and nothing of it ever reaches a command line (case S63).
 */
export function toLineTest(pattern: string, { ignoresCase }: Pick<GrepOptions, "ignoresCase">): LineTest {
  const compiled = /[\\^$.|?*+()[\]{}]/.test(pattern) ? compile(pattern, ignoresCase) : undefined;
  if (compiled !== undefined) {
    return (line) => compiled.matcher(line).find();
  }
  const wanted = ignoresCase ? pattern.toLowerCase() : pattern;
  return (line) => (ignoresCase ? line.toLowerCase() : line).includes(wanted);
}

function compile(pattern: string, ignoresCase: boolean): RE2JS | undefined {
  try {
    return RE2JS.compile(pattern, ignoresCase ? RE2JS.CASE_INSENSITIVE : 0);
  } catch {
    return undefined;
  }
}

/** A longer line is searched in pieces. */
const maxLine = 10_000;
const maxShown = 500;
/** The event loop gets a turn this often. */
const turnMs = 10;

/** The lines of a text that pass a test, and how many there are; other work goes on meanwhile. */
export async function grep(
  text: string,
  test: LineTest,
  { limit, signal }: Pick<GrepOptions, "limit" | "signal">,
): Promise<{ matches: Match[]; count: number }> {
  const matches: Match[] = [];
  let count = 0;
  let turnAt = performance.now() + turnMs;
  for (let at = 0, number = 1; at <= text.length; number += 1) {
    const end = text.indexOf("\n", at);
    const until = end < 0 ? text.length : end;
    let hit: string | undefined;
    for (let from = at; from === at || from < until; from += maxLine) {
      const piece = text.slice(from, Math.min(until, from + maxLine)).replace(/\r$/, "");
      hit ??= test(piece) ? piece : undefined;
      if (performance.now() > turnAt) {
        await nextTurn();
        signal.throwIfAborted();
        turnAt = performance.now() + turnMs;
      }
    }
    if (hit !== undefined) {
      count += 1;
      if (matches.length < limit) {
        matches.push({
          line: number,
          content: hit.length > maxShown ? `${hit.slice(0, maxShown).toWellFormed()}…` : hit,
        });
      }
    }
    at = until + 1;
  }
  return { matches, count };
}
