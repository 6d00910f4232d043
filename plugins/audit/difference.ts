import { isDeepStrictEqual } from "node:util";
import { isObject } from "#config/json-values.ts";
import { redactData } from "#kernel/log.ts";
import type { AuditEntry } from "./entry.ts";

const longestText = 100_000;
const longestDataUrl = 200;

/** Both sides of a change as they are kept. */
export interface KeptDifference {
  readonly before: unknown;
  readonly after: unknown;
  readonly complete: boolean;
}

/** Reduces two objects to the fields that differ, masks secrets and shortens what is too long for a record. */
export function toKeptDifference({
  before,
  after,
  whole = false,
}: Pick<AuditEntry, "before" | "after" | "whole">): KeptDifference {
  const isReduced = !whole && isObject(before) && isObject(after);
  const [old, now] = isReduced ? differing(before, after) : [before, after];
  const kept = [old, now].map((side) => shorten(redactData(side)));
  return {
    before: kept[0],
    after: kept[1],
    complete: isDeepStrictEqual(kept, [old, now]),
  };
}

function differing(before: Record<string, unknown>, after: Record<string, unknown>) {
  const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(
    (key) => !isDeepStrictEqual(before[key], after[key]),
  );
  const pick = (side: Record<string, unknown>) =>
    Object.fromEntries(keys.flatMap((key) => (side[key] === undefined ? [] : [[key, side[key]]])));
  return [pick(before), pick(after)];
}

function shorten(value: unknown): unknown {
  if (typeof value === "string") {
    return shortenText(value);
  }
  if (Array.isArray(value)) {
    return value.map(shorten);
  }
  return isObject(value)
    ? Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, shorten(inner)]))
    : value;
}

// Pictures are kept as data URLs in records; their bytes tell a reader nothing.
function shortenText(text: string): string {
  const limit = text.startsWith("data:") ? longestDataUrl : longestText;
  // A character of two halves may be cut in the middle.
  const start = text.slice(0, Math.min(limit, 1000)).toWellFormed();
  return text.length <= limit ? text : `${start}… (${text.length} characters)`;
}
