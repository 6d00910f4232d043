import { createHash } from "node:crypto";
import { limits } from "../limits.ts";
import { SandboxError, type Script } from "#kernel/sandbox.ts";

/** The name of every source inside its isolate; positions are found by it. */
export const sourceName = "source";

/** Finds the author's line and column for one of the code that runs, both 1-based. */
export type Positions = (line: number, column: number) => { line: number; column: number };

/** Names a source; two with the same key behave the same. */
export function toKey(source: string): string {
  return createHash("sha256").update(source).digest("base64url");
}

const keys = new WeakMap<Script, string>();

/** The key of a script's source, which is reckoned once. */
export function keyOf(script: Script): string {
  let key = keys.get(script);
  if (key === undefined) {
    requireSize(script.source);
    key = toKey(script.source);
    keys.set(script, key);
  }
  return key;
}

/** Throws when the source is longer than user code may be. */
export function requireSize(source: string): void {
  if (source.length > limits.sourceLength) {
    const kilobytes = limits.sourceLength / 1024;
    throw new SandboxError("syntax", `The source is longer than ${kilobytes} thousand characters.`);
  }
}

const bigInt = /(?<![\w$])(?:0[xX][\da-fA-F_]+|0[oO][0-7_]+|0[bB][01_]+|\d[\d_]*)n(?![\w$])/;
/** Compiling a class of characters takes a tenth of a millisecond; a pattern stands in one line. */
const mostClasses = 200;

/**
 * Throws when the source holds what nothing can stop once it runs: arithmetic of large numbers, a pattern that takes
 * long to compile. What stands in comments and texts counts as well:
 * only a whole parser could tell.
 */
export function requireStoppable(source: string): void {
  const number = bigInt.exec(source);
  if (number) {
    const message = `BigInt (${number[0].slice(0, 40)}) is not available in the sandbox, not even in a comment.`;
    throw new SandboxError("syntax", message, toPlace(source, number.index));
  }
  const line = source.split("\n").findIndex((text) => text.split(/\\p\{/i).length > mostClasses) + 1;
  if (line > 0) {
    const message = `One line has ${mostClasses} classes of characters (\\p{…}) or more.`;
    throw new SandboxError("syntax", message, { line, column: 1 });
  }
}

/** Positions of code that runs as it was written. */
export const same: Positions = (line, column) => ({ line, column });

/** Where an error of this source says that it happened. */
export function toPosition(
  stack: string,
  positions: Positions,
): { line?: number | undefined; column?: number | undefined } {
  const found = /\bsource:(\d+):(\d+)/.exec(stack);
  return found ? positions(Number(found[1]), Number(found[2])) : {};
}

/** The `key: value` lines of the leading block comment (contract D.29). */
export function toHeader(source: string): Record<string, string> {
  const comment = /^(?:\uFEFF|\s|\/\/[^\n]*\n)*\/\*([^]*?)\*\//.exec(source)?.[1] ?? "";
  const header: Record<string, string> = {};
  for (const line of comment.split("\n")) {
    const found = /^[\s*]*([A-Za-z][\w -]{0,39}):\s+(\S.*)$/.exec(line.trimEnd());
    if (found?.[1] && found[2]) {
      header[found[1].trim().toLowerCase()] = found[2].trim();
    }
  }
  return header;
}

const mostExports = 500;

/** The doc comments of exported functions, by name. */
export function toComments(source: string): Record<string, string> {
  const comments: Record<string, string> = {};
  const exported = source.matchAll(/\bexport\s+(?:async\s+)?(?:function|const|let|var)\b/g);
  for (const { index } of exported.take(mostExports)) {
    const before = source.slice(Math.max(0, index - 20_000), index).trimEnd();
    const from = before.endsWith("*/") ? before.lastIndexOf("/**") : -1;
    const after = source.slice(index, index + 300);
    const name =
      /^export\s+(?:async\s+)?(?:function\s*\*?|const|let|var)\s*([\p{ID_Start}$_][\p{ID_Continue}$]*)/u;
    const found = name.exec(after)?.[1];
    if (from >= 0 && found !== undefined && !before.slice(from, -2).includes("*/")) {
      comments[found] = before.slice(from);
    }
  }
  return comments;
}

/** The position of the first import of `specifier`. */
export function toImportPosition(
  source: string,
  specifier: string,
): { line: number; column: number } | undefined {
  const at = source.search(new RegExp(`["']${RegExp.escape(specifier)}["']`));
  return at < 0 ? undefined : toPlace(source, at);
}

function toPlace(source: string, at: number): { line: number; column: number } {
  const before = source.slice(0, at);
  return { line: before.split("\n").length, column: at - before.lastIndexOf("\n") };
}
