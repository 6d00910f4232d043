/**
 * JSON text that the database can hold: models and tools do send NUL characters and half characters, and a reply is
 * not lost for one of them. What callers send is refused instead, with a clear answer.
 */
export function toStorableJson(value: unknown): string {
  const text = JSON.stringify(value);
  // Almost every text is fine, and finding that out costs a look at the escapes only.
  return suspicious.test(text) ? JSON.stringify(value, (_key, entry: unknown) => clean(entry)) : text;
}

const suspicious = /\\u(?:0000|d[89a-f])/i;

function clean(entry: unknown): unknown {
  if (typeof entry === "string") {
    return entry.replaceAll("\u0000", "").toWellFormed();
  }
  if (entry !== null && typeof entry === "object" && !Array.isArray(entry)) {
    return Object.fromEntries(Object.entries(entry).map(([key, inner]) => [clean(key) as string, inner]));
  }
  return entry;
}
