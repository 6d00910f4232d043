type Bag = Readonly<Record<string, unknown>>;

/** Saved parameters that have a name of their own on the common wire. */
const commonParameters = [
  "temperature",
  "top_p",
  "top_k",
  "min_p",
  "max_tokens",
  "frequency_penalty",
  "presence_penalty",
  "reasoning_effort",
  "seed",
  "stop",
  "logit_bias",
  "response_format",
] as const;

/**
 * The request with the model's saved parameters where it left them out, and its system prompt ahead of the caller's;
 * the very same object when there is nothing to fill in. Core API, chat completion rule 7.
 */
export function fillSaved<B extends Bag & { messages: readonly { role: string; content?: unknown }[] }>(
  body: B,
  saved: Bag,
): B {
  const fills: Record<string, unknown> = {};
  for (const name of commonParameters) {
    if (isSet(saved[name]) && !isSet(body[name]) && !isLimitAlready(body, name)) {
      fills[name] = saved[name];
    }
  }
  for (const [name, value] of Object.entries(toBag(saved["custom_params"]))) {
    if (!isSet(body[name])) {
      fills[name] = toCustomValue(value);
    }
  }
  if (typeof saved["system"] === "string" && saved["system"] !== "") {
    fills["messages"] = withSystem(body.messages, saved["system"]);
  }
  return Object.keys(fills).length === 0 ? body : { ...body, ...fills };
}

function isLimitAlready(body: Bag, name: string): boolean {
  return name === "max_tokens" && isSet(body["max_completion_tokens"]);
}

function withSystem(messages: readonly { role: string; content?: unknown }[], system: string) {
  const [first, ...rest] = messages;
  if (first?.role === "system" && typeof first.content === "string") {
    return [{ ...first, content: `${system}\n${first.content}` }, ...rest];
  }
  return [{ role: "system", content: system }, ...messages];
}

/** A custom value that is JSON text counts as what it says. */
export function toCustomValue(value: unknown): unknown {
  if (typeof value !== "string") {
    return value;
  }
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}

function toBag(value: unknown): Bag {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Bag) : {};
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null;
}
