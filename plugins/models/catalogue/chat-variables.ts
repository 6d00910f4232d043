/** One input that a system prompt asks of every chat. */
export interface ChatVariable {
  readonly type: string;
  readonly [property: string]: unknown;
}

const declaration = /\{\{\s*chat\.variables\.([A-Za-z_]\w{0,99})\s*(?:\|([^{}]{0,2000}))?\}\}/g;
const property = /^(\w+)(?:=(.*))?$/s;

/**
 * What a system prompt declares by `{{chat.variables.<key> | type:property=value}}` (contract 3.7), by key; undefined
 * when it declares nothing. Of two declarations of one key the first that says more than its name counts.
 */
export function toChatVariables(prompt: unknown): Record<string, ChatVariable> | undefined {
  if (typeof prompt !== "string" || !prompt.includes("chat.variables.")) {
    return undefined;
  }
  const found = new Map<string, { told: boolean; variable: ChatVariable }>();
  for (const [, key = "", told] of prompt.matchAll(declaration)) {
    if (!found.has(key) || (told !== undefined && found.get(key)?.told === false)) {
      found.set(key, { told: told !== undefined, variable: toVariable(told ?? "") });
    }
  }
  return found.size === 0
    ? undefined
    : Object.fromEntries([...found].map(([key, { variable }]) => [key, variable]));
}

function toVariable(told: string): ChatVariable {
  const [type = "", ...properties] = splitOutsideQuotes(told);
  const entries = properties.flatMap((text): [string, unknown][] => {
    const [, name, value] = property.exec(text) ?? [];
    return name === undefined || name === "type" ? [] : [[name, value === undefined ? true : toValue(value)]];
  });
  return { ...Object.fromEntries(entries), type: /^\w+$/.test(type) ? type : "text" };
}

/** Cuts at colons; one inside quotes or brackets is part of the value. */
function splitOutsideQuotes(text: string): string[] {
  const parts = [""];
  let quote = "";
  let depth = 0;
  for (const sign of text) {
    quote = sign === quote ? "" : quote === "" && (sign === '"' || sign === "'") ? sign : quote;
    depth += quote === "" ? Number(sign === "[") - Number(sign === "]") : 0;
    if (sign === ":" && quote === "" && depth === 0) {
      parts.push("");
    } else {
      parts[parts.length - 1] += sign;
    }
  }
  return parts.map((part) => part.trim());
}

/** JSON where it is JSON (lists of options, numbers), else the text without its quotes. */
function toValue(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text.replace(/^'(.*)'$/s, "$1");
  }
}
