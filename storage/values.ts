import { sql, type Expression, type RawBuilder } from "kysely";

// Both databases must hand out the same values. The rules, for every column:
//   int8               number when it is a safe integer, else bigint (`toBigInt` for nanosecond columns)
//   json, jsonb        parsed
//   date, interval     text
//   numeric            text
//   timestamptz        Date
// and for every parameter: an object becomes JSON text, an array becomes a Postgres array.

/** int8 text to number, or to bigint when a number cannot hold it. */
export function fromInt8(text: string): number | bigint {
  const value = Number(text);
  return Number.isSafeInteger(value) ? value : BigInt(text);
}

/** The bigint of a nanosecond column, whatever size its value happened to have. */
export function toBigInt(value: number | bigint): bigint {
  return BigInt(value);
}

/**
 * A value for a json or jsonb column. Objects may be given without it; arrays, strings, numbers, booleans
 * and a JSON null need it, because a bare array is a Postgres array and a bare string is JSON text already.
 */
export function toJson<T>(value: T): RawBuilder<T> {
  return sql<T>`cast(cast(${JSON.stringify(value ?? null)} as text) as jsonb)`;
}

/** A parameter as the server driver would send it, so that the embedded database gets the same. */
export function toParameter(value: unknown): unknown {
  if (value === undefined || value === null) {
    return null;
  }
  if (Array.isArray(value)) {
    return value.map(toParameter);
  }
  if (typeof value === "object" && !(value instanceof Date) && !ArrayBuffer.isView(value)) {
    return JSON.stringify(value);
  }
  return value;
}

/** One parameter for a list of any length, so that the statement stays the same. */
export function anyOf(values: readonly string[]): Expression<string> {
  return sql<string>`any(${[...values]}::text[])`;
}

/** A LIKE pattern for names that hold a text; its signs are literal. */
export function toContains(text: string): string {
  return `%${text.replaceAll("\u0000", "").replace(/[\\%_]/g, (sign) => `\\${sign}`)}%`;
}
