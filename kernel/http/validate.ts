import type { z } from "zod";
import { AppError } from "#kernel/errors.ts";

/** One entry of a validation answer (contract §0): where, what, and the rejected value; null unless that is short and no secret. */
export interface ValidationEntry {
  type: string;
  loc: (string | number)[];
  msg: string;
  input: unknown;
}

const secretField = /pass|token|secret|key|authorization/i;

/** Checks `value` against `schema`. Throws `unprocessable` with one entry a problem, each naming its field. */
export function validate(schema: z.ZodType, value: unknown, where: "path" | "query" | "body"): unknown {
  const result = schema.safeParse(value);
  if (result.success) {
    return result.data;
  }
  throw new AppError(
    "unprocessable",
    result.error.issues.slice(0, 50).map((issue) => toEntry(issue, where, value)),
  );
}

function toEntry(found: z.core.$ZodIssue, where: string, value: unknown): ValidationEntry {
  const issue = found.code === "invalid_union" ? toNearest(found) : found;
  const path = issue.path.map((part) => (typeof part === "symbol" ? String(part) : part));
  const input = path.reduce<unknown>(
    (at, key) => (at as Record<string | number, unknown> | null | undefined)?.[key],
    value,
  );
  // A rejected password must not come back in an answer that somebody logs.
  const isShown = isShort(input) && !path.some((part) => secretField.test(String(part)));
  return {
    type: issue.code,
    loc: [where, ...path],
    msg: toSentence(issue, input),
    input: isShown ? input : null,
  };
}

function toSentence(issue: z.core.$ZodIssue, input: unknown): string {
  if (issue.code === "invalid_union") {
    return toChoice(issue, input);
  }
  const isSize = issue.code === "too_big" || issue.code === "too_small";
  // A message of the schema's own says more.
  return isSize && /^Too (big|small):/.test(issue.message) ? toLimit(issue, input) : issue.message;
}

type SizeIssue = Extract<z.core.$ZodIssue, { code: "too_big" | "too_small" }>;

/** Says the limit of a length or a number, and what the value has. */
function toLimit(issue: SizeIssue, input: unknown): string {
  const limit = Number(issue.code === "too_big" ? issue.maximum : issue.minimum);
  const isBig = issue.code === "too_big";
  const most = isBig ? "at most" : "at least";
  if (typeof input === "string" && issue.origin === "string") {
    return !isBig && limit === 1
      ? "Must not be empty"
      : `Must be ${most} ${count(limit, "character")}; this has ${inEnglish([...input].length)}`;
  }
  if (Array.isArray(input)) {
    return !isBig && limit === 1
      ? "Must not be empty"
      : `Must have ${most} ${count(limit, "entry", "entries")}; this has ${inEnglish(input.length)}`;
  }
  const other = isBig ? "less than" : "more than";
  return typeof input === "number"
    ? `Must be ${issue.inclusive === false ? other : most} ${limit}`
    : issue.message;
}

const inEnglish = (value: number): string => value.toLocaleString("en-US");
const count = (value: number, one: string, more = `${one}s`): string =>
  `${inEnglish(value)} ${value === 1 ? one : more}`;

type UnionIssue = Extract<z.core.$ZodIssue, { code: "invalid_union" }>;

/** The problem inside the one member of a union that the value is of the kind of. */
function toNearest(issue: UnionIssue): z.core.$ZodIssue {
  const inner = issue.errors.map(([first]) => first).filter((first) => (first?.path.length ?? 0) > 0);
  const [only] = inner;
  return inner.length === 1 && only ? { ...only, path: [...issue.path, ...only.path] } : issue;
}

/** Names the kinds that a union takes; the library says no more than that the value is none of them. */
function toChoice({ errors, message }: UnionIssue, input: unknown): string {
  const kinds = errors.flatMap(([first]) => (first?.code === "invalid_type" ? [first.expected] : []));
  return message === "Invalid input" && kinds.length > 0
    ? `${message}: expected ${[...new Set(kinds)].join(" or ")}, received ${toKind(input)}`
    : message;
}

function toKind(value: unknown): string {
  return value === null ? "null" : Array.isArray(value) ? "array" : typeof value;
}

function isShort(value: unknown): boolean {
  return (
    typeof value === "number" ||
    typeof value === "boolean" ||
    value === null ||
    (typeof value === "string" && value.length <= 200)
  );
}
