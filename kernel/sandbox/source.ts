import { createHash } from "node:crypto";
import { limits } from "./limits.ts";
import { SandboxError, type Script } from "./sandbox.ts";

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

/** The doc comments of exported functions, by name. */
export function toComments(source: string): Record<string, string> {
  const comments: Record<string, string> = {};
  for (const { index } of source.matchAll(/\bexport\s+(?:async\s+)?(?:function|const|let|var)\b/g)) {
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
  const before = source.slice(0, at);
  return at < 0 ? undefined : { line: before.split("\n").length, column: at - before.lastIndexOf("\n") };
}
