const texts = new WeakMap<object, string>();

/** A parser of requests skips it, others take it for a mistake. */
const byteOrderMark = 0xfeff;

/**
 * Notes the JSON text that an object was read from: whoever hands the object on need not write it again, which takes
 * long for long texts. From then on the object is not changed in place. A text of several lines is not kept.
 */
export function withJson<T extends object>(value: T, text: string): T {
  if (!text.includes("\n") && text.charCodeAt(0) !== byteOrderMark) {
    texts.set(value, text);
  }
  return value;
}

/** The noted JSON of a value, in one line; undefined where none is known. */
export function jsonOf(value: unknown): string | undefined {
  return texts.get(value as object);
}
