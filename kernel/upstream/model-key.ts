type Body = Readonly<Record<string, unknown>>;

const modelKey = '"model"';

/**
 * True when a JSON text names its model once, and `body`, which it was parsed to, under no other spelling of the key.
 * Of a key written twice this server reads the last and an upstream perhaps the first, and some upstreams take `Model`
 * for the same key: such a text must not go out as it came, or it would reach a model nobody checked.
 */
export function namesModelOnce(text: string, body: unknown): boolean {
  return (
    text.indexOf(modelKey, text.indexOf(modelKey) + 1) <= 0 &&
    !text.includes("\\u006") &&
    !Object.keys((body as Body | null) ?? {}).some(isOtherSpelling)
  );
}

/** The body with this model and without other spellings of the key. */
export function withModel(body: Body, model: string): Record<string, unknown> {
  return { ...withoutOtherSpellings(body), model };
}

/** The body without other spellings of its key `model`. */
export function withoutOtherSpellings(body: Body): Record<string, unknown> {
  return Object.fromEntries(Object.entries(body).filter(([key]) => !isOtherSpelling(key)));
}

function isOtherSpelling(key: string): boolean {
  return key.length === 5 && key !== "model" && key.toLowerCase() === "model";
}
