/** Members of error bodies that hold words for people, the best first; each may hold a further object, or JSON as text. */
const members = [
  "error",
  "message",
  "detail",
  "msg",
  "error_description",
  "description",
  "title",
  "errors",
  "reason",
] as const;
const deepest = 6;
const longest = 1000;

/** The provider's own words in the body of a refusal; undefined where it holds none, for JSON is not for people. */
export function providerWords(body: string): string | undefined {
  return /<html|<!doctype/i.test(body) ? undefined : toWords(body, 0);
}

function toWords(value: unknown, depth: number): string | undefined {
  if (depth > deepest || typeof value !== "object" || value === null) {
    return typeof value === "string" ? fromText(value, depth) : undefined;
  }
  const inside = Array.isArray(value)
    ? (value as unknown[])
    : members.map((member) => (value as Record<string, unknown>)[member]);
  return inside.map((one) => toWords(one, depth + 1)).find((words) => words !== undefined);
}

/** Proxies pass on what a provider said as a text of JSON. */
function fromText(text: string, depth: number): string | undefined {
  const plain = text.replace(/^\s*data:/, "").trim();
  if (/^[[{]/.test(plain)) {
    try {
      return toWords(JSON.parse(plain), depth + 1);
    } catch {
      // Words that begin with a bracket, or JSON that was cut.
      return /^[[{]\s*["{[]/.test(plain) ? undefined : plain.slice(0, longest);
    }
  }
  return plain.slice(0, longest) || undefined;
}
