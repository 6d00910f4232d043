/** What an element of a Postgres array is made from. */
export type Element = string | number | boolean | null | readonly string[];

/** A column of records: one element when all values are the same one, which most columns of most batches are. */
export function toColumnText(values: readonly Element[]): string {
  const [first] = values;
  return toArrayText(
    values.length > 1 && values.every((value) => value === first) ? [first ?? null] : values,
  );
}

/** The text form of a Postgres array; an array among its elements becomes that array's text. */
export function toArrayText(values: readonly Element[]): string {
  return `{${values.map(toElement).join(",")}}`;
}

function toElement(value: Element): string {
  if (value === null) {
    return "NULL";
  }
  if (typeof value === "object") {
    return quoted(toArrayText(value));
  }
  return typeof value === "string" ? quoted(value) : String(value);
}

function quoted(text: string): string {
  return `"${/["\\]/.test(text) ? text.replace(/["\\]/g, "\\$&") : text}"`;
}
