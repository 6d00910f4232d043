import { isObject } from "#config/json-values.ts";
import type { Attribute } from "../discovery/attributes.ts";
import { refusal } from "../errors.ts";

const longestText = 1000;
/** More addresses than anybody has; members of groups have no such limit. */
export const mostValues = 100;

/**
 * The value of an attribute as it is stored. Accepts what providers send beside the standard: booleans as texts, one
 * value where a list is meant, a list of one where a value is meant. Null and empty texts stand for nothing: undefined.
 * Throws `invalid` (invalidValue).
 */
export function toValue(attribute: Attribute, given: unknown, place = attribute.name): unknown {
  if (given === null || given === undefined) {
    return undefined;
  }
  if (attribute.multiValued) {
    return toList(attribute, given, place);
  }
  return toSingle(attribute, unwrap(given), place);
}

/** One value of an attribute, also of one with many. */
export function toSingle(attribute: Attribute, given: unknown, place = attribute.name): unknown {
  switch (attribute.type) {
    case "boolean":
      return toBoolean(given, place);
    case "complex":
      return toParts(attribute, given, place);
    default:
      return toText(given, place);
  }
}

/** `[{"value": x}]` and `[x]` stand for x in requests of older clients. */
function unwrap(given: unknown): unknown {
  if (!Array.isArray(given) || given.length !== 1) {
    return given;
  }
  const [only] = given as unknown[];
  return isObject(only) && "value" in only ? only["value"] : only;
}

function toBoolean(given: unknown, place: string): boolean {
  const text = typeof given === "string" ? given.trim().toLowerCase() : given;
  if (text === true || text === "true") {
    return true;
  }
  if (text === false || text === "false") {
    return false;
  }
  throw refusal("invalidValue", `${place} must be true or false.`);
}

function toText(given: unknown, place: string): string | undefined {
  if (typeof given !== "string") {
    throw refusal("invalidValue", `${place} must be a text.`);
  }
  if (given.length > longestText) {
    throw refusal("invalidValue", `${place} is longer than ${longestText} characters.`);
  }
  if (!given.isWellFormed() || given.includes("\0")) {
    throw refusal("invalidValue", `${place} holds a NUL or a broken character.`);
  }
  return given === "" ? undefined : given;
}

function toParts(attribute: Attribute, given: unknown, place: string): Record<string, unknown> | undefined {
  const value = attribute.multiValued && typeof given === "string" ? { value: given } : given;
  if (!isObject(value)) {
    throw refusal("invalidValue", `${place} must be an object.`);
  }
  const parts = new Map(Object.entries(value).map(([name, part]) => [name.toLowerCase(), part]));
  const entries = (attribute.subAttributes ?? [])
    .filter((part) => isWritten(part))
    .map((part) => [part.name, toValue(part, parts.get(part.name.toLowerCase()), `${place}.${part.name}`)])
    .filter(([, part]) => part !== undefined);
  return entries.length === 0 ? undefined : (Object.fromEntries(entries) as Record<string, unknown>);
}

/** References are made by this server from the values. */
function isWritten(part: Attribute): boolean {
  return part.mutability !== "readOnly" && part.type !== "reference";
}

function toList(attribute: Attribute, given: unknown, place: string): unknown[] {
  const values = (Array.isArray(given) ? (given as unknown[]) : [given]).map((each) =>
    toSingle(attribute, each, place),
  );
  const isMembers = attribute.name === "members";
  if (isMembers && values.some((each) => (each as { value?: unknown } | undefined)?.value === undefined)) {
    throw refusal("invalidValue", `${place}: one of them has no value.`);
  }
  if (!isMembers && values.length > mostValues) {
    throw refusal("invalidValue", `${place} has more than ${mostValues} values.`);
  }
  // Entra sends addresses without a value for people who have none.
  return values.filter((each) => each !== undefined);
}
