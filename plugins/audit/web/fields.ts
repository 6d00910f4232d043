/** A field of a record's object with its value on both sides; undefined where it was not there. */
export interface ChangedField {
  readonly name: string;
  readonly before: string | undefined;
  readonly after: string | undefined;
}

/** Both sides of a record field by field; values that are no objects are one field without a name. */
export function toFields(before: unknown, after: unknown): readonly ChangedField[] {
  const old = toObject(before);
  const now = toObject(after);
  return [...new Set([...Object.keys(old), ...Object.keys(now)])].map((name) => ({
    name,
    before: toText(old[name]),
    after: toText(now[name]),
  }));
}

function toObject(side: unknown): Readonly<Record<string, unknown>> {
  if (side === null || side === undefined) {
    return {};
  }
  return typeof side === "object" && !Array.isArray(side) ? (side as Record<string, unknown>) : { "": side };
}

function toText(value: unknown): string | undefined {
  return typeof value === "string" || value === undefined ? value : JSON.stringify(value, null, 2);
}
