import type { Filter } from "scim2-parse-filter";
import { type Attribute, groupAttributes, userAttributes } from "../discovery/attributes.ts";
import { type ResourceKind, urns } from "../discovery/urns.ts";
import { refusal } from "../errors.ts";
import { readAttributePath } from "../filter/attribute-path.ts";
import { parseFilter } from "../filter/parse.ts";

/** The target of an operation. */
export type Target =
  /** The whole resource: the value names attributes. */
  | { readonly kind: "resource" }
  /** Known and not kept: the operation does nothing. */
  | { readonly kind: "ignored" }
  /** `id`, `schemas` and `meta`, which this server alone writes. */
  | { readonly kind: "server"; readonly name: string }
  | {
      readonly kind: "attribute";
      readonly attribute: Attribute;
      readonly part?: Attribute;
      readonly filter?: Filter;
    };

const serverOwned = new Set(["id", "schemas", "meta"]);

/** The writable and readable attributes of a kind of resource. */
export function attributesOf(kind: ResourceKind): readonly Attribute[] {
  return kind === "User" ? userAttributes : groupAttributes;
}

/** Reads the path of an operation (RFC 7644, 3.5.2). Throws `invalid` (invalidPath). */
export function readTarget(kind: ResourceKind, path: string): Target {
  const text = path.trim();
  if (text.toLowerCase() === (kind === "User" ? urns.user : urns.group).toLowerCase()) {
    return { kind: "resource" };
  }
  const open = text.indexOf("[");
  if (open === -1) {
    return toTarget(kind, text, path);
  }
  const close = findClosing(text, open);
  const rest = text.slice(close + 1);
  if (close === -1 || (rest !== "" && !/^\.\$?[A-Za-z][\w$-]*$/.test(rest))) {
    throw unknown(path);
  }
  const target = toTarget(kind, text.slice(0, open) + rest, path);
  if (target.kind === "ignored") {
    return target;
  }
  if (target.kind !== "attribute" || !target.attribute.multiValued) {
    throw unknown(path);
  }
  return { ...target, filter: parseFilter(text.slice(open + 1, close), "invalidPath") };
}

function toTarget(kind: ResourceKind, text: string, path: string): Target {
  const named = readAttributePath(kind, text);
  if (named === "ignored") {
    return { kind: "ignored" };
  }
  if (named !== undefined && serverOwned.has(named.name)) {
    return { kind: "server", name: named.name };
  }
  const attribute = attributesOf(kind).find(({ name }) => name.toLowerCase() === named?.name);
  if (named === undefined || attribute === undefined) {
    throw unknown(path);
  }
  if (named.part === undefined) {
    return { kind: "attribute", attribute };
  }
  const part = attribute.subAttributes?.find(({ name }) => name.toLowerCase() === named.part);
  if (part === undefined) {
    throw unknown(path);
  }
  return { kind: "attribute", attribute, part };
}

/** The bracket that closes the one at `open`, outside of texts; -1 for none. */
function findClosing(text: string, open: number): number {
  let inText = false;
  for (let at = open + 1; at < text.length; at++) {
    const letter = text[at];
    if (inText && letter === "\\") {
      at += 1;
    } else if (letter === '"') {
      inText = !inText;
    } else if (!inText && letter === "]") {
      return at;
    }
  }
  return -1;
}

function unknown(path: string) {
  return refusal("invalidPath", `There is nothing at the path ${JSON.stringify(path.slice(0, 200))}.`);
}
