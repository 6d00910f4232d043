import type { Filter } from "scim2-parse-filter";
import type { Attribute } from "../discovery/attributes.ts";
import { refusal } from "../errors.ts";
import type { State } from "../resources/state.ts";
import { matches } from "./matches.ts";
import type { Operation } from "./operations.ts";
import type { Target } from "./path.ts";
import { mostValues, toSingle, toValue } from "./values.ts";

type Element = Record<string, unknown>;
type ListTarget = Extract<Target, { kind: "attribute" }>;

/** The type of elements that say none. */
const usualTypes: Readonly<Record<string, string>> = { emails: "work", members: "User" };

/** Applies an operation to an attribute with many values. */
export function changeList(state: State, target: ListTarget, operation: Operation): void {
  const { attribute } = target;
  const known = (state[attribute.name] ?? []) as Element[];
  if (target.part !== undefined && target.part.mutability !== "readWrite") {
    throw refusal("mutability", `${attribute.name}.${target.part.name} cannot be written.`);
  }
  const changed =
    target.filter === undefined && target.part === undefined
      ? changeAll(attribute, known, operation)
      : changeSome(target, known, operation);
  // Many operations may add a few each.
  if (attribute.name !== "members" && changed.length > Math.max(known.length, mostValues)) {
    throw refusal("invalidValue", `${attribute.name} has more than ${mostValues} values.`);
  }
  state[attribute.name] = changed;
}

function changeAll(attribute: Attribute, known: readonly Element[], { op, value }: Operation): Element[] {
  if (op === "remove") {
    // Entra and authentik name the values to take out; a list of nothing takes out nothing.
    return Array.isArray(value) || (value !== null && typeof value === "object")
      ? withoutValues(attribute, known, value)
      : [];
  }
  const given = (toValue(attribute, value) ?? []) as Element[];
  return op === "replace"
    ? union([], given)
    : union(
        known.filter((each) => each["implied"] !== true),
        given,
      );
}

function withoutValues(attribute: Attribute, known: readonly Element[], value: unknown): Element[] {
  const gone = new Set((toValue(attribute, value) as Element[]).map((each) => fold(each["value"])));
  return known.filter((each) => !gone.has(fold(each["value"])));
}

/** Appends what is not there yet; of two elements alike the later one's parts count. */
function union(known: readonly Element[], given: readonly Element[]): Element[] {
  const all = new Map<string, Element>();
  for (const each of known) {
    all.set(keyOf(each), each);
  }
  for (const each of given) {
    all.set(keyOf(each), { ...all.get(keyOf(each)), ...each });
  }
  return withOnePrimary([...all.values()], given.filter((each) => each["primary"] === true).map(keyOf));
}

function keyOf(element: Element): string {
  return JSON.stringify([fold(element["value"]), fold(element["type"] ?? "work")]);
}

/** A new primary value takes that from the others (RFC 7644, 3.5.2); two at once are refused. */
function withOnePrimary(elements: Element[], primary: readonly string[]): Element[] {
  if (primary.length === 0) {
    return elements;
  }
  if (new Set(primary).size > 1) {
    throw refusal("invalidValue", "Only one value can be primary.");
  }
  return elements.map((each) =>
    each["primary"] === true && keyOf(each) !== primary[0] ? { ...each, primary: false } : each,
  );
}

function changeSome(target: ListTarget, known: readonly Element[], operation: Operation): Element[] {
  const { attribute, part, filter } = target;
  const isMeant = (element: Element) =>
    filter === undefined || matches(element, filter, usualTypes[attribute.name] ?? "");
  const meant = known.filter(isMeant);
  if (operation.op === "remove") {
    return part === undefined
      ? known.filter((each) => !meant.includes(each))
      : known.map((each) => (meant.includes(each) ? without(each, part.name) : each));
  }
  if (meant.length === 0) {
    return addElement(target, known, operation);
  }
  const changed = new Map(meant.map((each) => [each, change(target, each, operation)]));
  const elements = known.map((each) => changed.get(each) ?? each);
  const isPrimary = [...changed.values()].filter((each) => each["primary"] === true).map(keyOf);
  return withOnePrimary(elements, isPrimary);
}

function change({ attribute, part }: ListTarget, element: Element, { op, value }: Operation): Element {
  if (part !== undefined) {
    const given = value === null ? undefined : toSingle(part, value);
    return given === undefined ? without(element, part.name) : { ...element, [part.name]: given };
  }
  const given = (toSingle(attribute, firstOf(value)) ?? {}) as Element;
  return op === "add" ? { ...element, ...given } : given;
}

/** Contract D.27: `replace` needs something to replace, `add` creates what a filter of equalities describes. */
function addElement(target: ListTarget, known: readonly Element[], operation: Operation): Element[] {
  const { attribute, part, filter } = target;
  const described = filter === undefined ? {} : describe(attribute, filter);
  if (operation.op === "replace" || described === undefined) {
    throw refusal("noTarget", `Nothing in ${attribute.name} fits the path.`);
  }
  const element = change(target, described, { ...operation, op: "add" });
  return element["value"] === undefined && part !== undefined ? [...known] : union(known, [element]);
}

/** The element that a filter of equalities describes; undefined for any other filter. */
function describe(attribute: Attribute, filter: Filter): Element | undefined {
  if (filter.op === "and") {
    const parts = filter.filters.map((each) => describe(attribute, each));
    return parts.includes(undefined) ? undefined : (Object.assign({}, ...parts) as Element);
  }
  const part = "attrPath" in filter ? findPart(attribute, filter.attrPath) : undefined;
  if (filter.op !== "eq" || part === undefined || filter.compValue === null) {
    return undefined;
  }
  return { [part.name]: toSingle(part, filter.compValue) };
}

function findPart(attribute: Attribute, name: string): Attribute | undefined {
  return attribute.subAttributes?.find((each) => each.name.toLowerCase() === name.toLowerCase());
}

function without(element: Element, name: string): Element {
  return Object.fromEntries(Object.entries(element).filter(([key]) => key !== name));
}

function firstOf(value: unknown): unknown {
  return Array.isArray(value) && value.length === 1 ? value[0] : value;
}

function fold(value: unknown): unknown {
  return typeof value === "string" ? value.toLowerCase() : value;
}
