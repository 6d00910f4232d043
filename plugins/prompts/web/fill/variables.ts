import type { InputVariable } from "#plugins/web/kit/web.ts";

/** An input that a prompt's text declares (contract 3.7). */
export interface NamedVariable {
  readonly name: string;
  readonly variable: InputVariable;
}

const declaration = /\{\{([^{}]{1,2000})\}\}/g;
/** A type or property: text, quoted text and lists, none of which is cut at a colon inside. */
const piece = /(?:"[^"]{0,500}"|\[[^\]]{0,500}\]|[^:"[])+/g;
const plainName = /^[\p{L}_][\p{L}\p{N}_ .-]*$/u;

/** Filled in without asking. */
export const knownNames: ReadonlySet<string> = new Set([
  "CURRENT_DATE",
  "CURRENT_TIME",
  "CURRENT_DATETIME",
  "CURRENT_WEEKDAY",
  "CURRENT_TIMEZONE",
  "USER_NAME",
  "USER_LANGUAGE",
  "CLIPBOARD",
]);

/** The inputs of a text in their order, each once; of two declarations the first that says more than its name counts. */
export function toVariables(text: string): NamedVariable[] {
  const found = new Map<string, { told: boolean; variable: InputVariable }>();
  for (const [, inner = ""] of text.matchAll(declaration)) {
    const parsed = parse(inner);
    const held = parsed && found.get(parsed.name);
    if (parsed && !knownNames.has(parsed.name) && (held === undefined || (!held.told && parsed.told))) {
      found.set(parsed.name, parsed);
    }
  }
  return [...found].map(([name, { variable }]) => ({ name, variable }));
}

/** The names among `knownNames` that a text asks for. */
export function knownIn(text: string): string[] {
  const names = [...text.matchAll(declaration)].map(([, inner = ""]) => parse(inner)?.name ?? "");
  return [...new Set(names)].filter((name) => knownNames.has(name));
}

/** The text with its inputs filled in; one that is not given is its default or nothing. */
export function fillIn(text: string, values: Readonly<Record<string, unknown>>): string {
  const declared = new Map(toVariables(text).map(({ name, variable }) => [name, variable]));
  return text.replaceAll(declaration, (whole, inner: string) => {
    const name = parse(inner)?.name;
    const value = name === undefined ? whole : (values[name] ?? declared.get(name)?.["default"]);
    return value === undefined || value === null ? "" : String(value);
  });
}

/** Names of required inputs that have no value. */
export function missingIn(text: string, values: Readonly<Record<string, unknown>>): string[] {
  return toVariables(text)
    .filter(({ name, variable }) => {
      const value = values[name] ?? variable["default"] ?? "";
      return variable["required"] === true && String(value).trim() === "";
    })
    .map(({ name }) => name);
}

/** Undefined for what stands in braces and declares nothing. */
function parse(inner: string): { name: string; told: boolean; variable: InputVariable } | undefined {
  const bar = inner.indexOf("|");
  const name = (bar < 0 ? inner : inner.slice(0, bar)).trim();
  if (!plainName.test(name) || name.length > 100) {
    return undefined;
  }
  const [type = "text", ...properties] =
    bar < 0 ? [] : (inner.slice(bar + 1).match(piece) ?? []).map((one) => one.trim()).filter(Boolean);
  const entries = properties.map((property): [string, unknown] => {
    const at = property.indexOf("=");
    return at < 0 ? [property, true] : [property.slice(0, at).trim(), toValue(property.slice(at + 1).trim())];
  });
  return { name, told: bar >= 0, variable: { ...Object.fromEntries(entries), type } };
}

/** JSON where it is JSON (lists, numbers, quoted texts), else the text as it stands. */
function toValue(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
