// Helpers for values whose shape is not known: parsed JSON, stored JSON columns, what callers sent.

/** An object of JSON, neither null nor a list. */
export type JsonObject = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The object; an empty one for anything else. */
export function toObject(value: unknown): Record<string, unknown> {
  return isObject(value) ? value : {};
}

/** The object; undefined for anything else. */
export function asObject(value: unknown): Record<string, unknown> | undefined {
  return isObject(value) ? value : undefined;
}

/** The list; an empty one for anything else. */
export function toList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The value of a JSON text; undefined when it is none. */
export function parseOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
