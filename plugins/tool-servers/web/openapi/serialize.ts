import { isBag } from "./bag.ts";
import type { Input } from "./operations.ts";

/** What a parameter adds to the query, as encoded pairs. */
export function toQueryPairs(input: Input, value: unknown): string[] {
  const { name, style, isExploded, isReserved } = input;
  const pair = (key: string, text: string) => `${encode(key, false)}=${text}`;
  const write = (each: unknown) => encode(toPlain(each), isReserved);
  if (input.isJson) {
    return [pair(name, write(JSON.stringify(value)))];
  }
  if (Array.isArray(value)) {
    if (isExploded || style === "deepObject") {
      return value.map((each) => pair(name, write(each)));
    }
    const separator = { spaceDelimited: "%20", pipeDelimited: "%7C" }[style] ?? ",";
    return [pair(name, value.map(write).join(separator))];
  }
  if (isBag(value)) {
    if (style === "deepObject") {
      return toDeepPairs(name, value, write);
    }
    const entries = Object.entries(value).filter(([, each]) => each !== undefined);
    return isExploded
      ? entries.map(([key, each]) => pair(key, write(each)))
      : [pair(name, entries.flatMap(([key, each]) => [encode(key, false), write(each)]).join(","))];
  }
  return [pair(name, write(value))];
}

function toDeepPairs(prefix: string, value: unknown, write: (each: unknown) => string): string[] {
  if (isBag(value)) {
    return Object.entries(value).flatMap(([key, each]) => toDeepPairs(`${prefix}[${key}]`, each, write));
  }
  return (Array.isArray(value) ? value : [value]).map((each) => `${encode(prefix, false)}=${write(each)}`);
}

/** A parameter as a part of the path, in the styles simple, label and matrix. */
export function toPathText(input: Input, value: unknown): string {
  const { name, style, isExploded } = input;
  const write = (each: unknown) => encode(toPlain(each), false);
  if (input.isJson) {
    return write(JSON.stringify(value));
  }
  const parts = toParts(value, isExploded, write);
  switch (style) {
    case "label":
      return `.${parts.join(isExploded ? "." : ",")}`;
    case "matrix":
      return isExploded && Array.isArray(value)
        ? parts.map((part) => `;${name}=${part}`).join("")
        : isExploded && isBag(value)
          ? parts.map((part) => `;${part}`).join("")
          : `;${name}=${parts.join(",")}`;
    default:
      return parts.join(",");
  }
}

/** A parameter as the value of a header. Throws where it cannot be one. */
export function toHeaderValue(input: Input, value: unknown): string {
  const text = input.isJson ? JSON.stringify(value) : toParts(value, input.isExploded, toPlain).join(",");
  if (!/^[\t\u0020-\u007e]*$/.test(text)) {
    throw new Error(`"${input.key}" may hold no line breaks and only plain characters.`);
  }
  return text;
}

function toParts(value: unknown, isExploded: boolean, write: (each: unknown) => string): string[] {
  if (Array.isArray(value)) {
    return value.map(write);
  }
  if (isBag(value)) {
    return Object.entries(value).flatMap(([key, each]) =>
      isExploded ? [`${write(key)}=${write(each)}`] : [write(key), write(each)],
    );
  }
  return [write(value)];
}

function toPlain(value: unknown): string {
  return typeof value === "string" ? value : value === null ? "" : (JSON.stringify(value) ?? "");
}

function encode(text: string, isReserved: boolean): string {
  const encoded = encodeURIComponent(text.toWellFormed());
  // What would end the query or start another pair stays encoded.
  return isReserved
    ? encoded.replaceAll(/%(3A|2F|3F|40|21|24|27|28|29|2A|2C|3B|5B|5D)/g, (one) => decodeURIComponent(one))
    : encoded;
}
