import type { ZodNumber, ZodType } from "zod";
import type { Parsed } from "./parse.ts";

/** Holds a value against its shape and, when it fits, against the variable's own rule. */
export function checkValue<T>(
  schema: ZodType<T>,
  given: unknown,
  rule: ((value: NonNullable<T>) => string | undefined) | undefined,
): Parsed<T> {
  const result = schema.safeParse(given);
  if (!result.success) {
    const [issue] = result.error.issues;
    const where = issue && issue.path.length > 0 ? ` (at ${issue.path.map(String).join(".")})` : "";
    return { problem: `${phrase(issue?.message ?? "is wrong")}${where}` };
  }
  const problem = result.data === null || result.data === undefined ? undefined : rule?.(result.data);
  return problem === undefined ? { value: result.data } : { problem };
}

/** The schema, which also takes null when one of the values that the variable can have is null. */
export function orNull<T>(schema: ZodType<T>, values: readonly (T | null | undefined)[]): ZodType<T | null> {
  return values.includes(null) ? schema.nullable() : schema;
}

/** The schema with a smallest and a largest number. */
export function bounded(schema: ZodNumber, { min, max }: { min?: number; max?: number }): ZodType<number> {
  const floored = min === undefined ? schema : schema.min(min, `must be at least ${min}`);
  return max === undefined ? floored : floored.max(max, `must be at most ${max}`);
}

// Messages of this folder continue the variable's name; zod's own stand for themselves.
function phrase(message: string): string {
  return /^(must|is) /.test(message) ? message : `does not fit: ${message}`;
}
