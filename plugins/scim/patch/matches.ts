import type { Compare, Filter } from "scim2-parse-filter";
import { refusal } from "../errors.ts";

type Element = Readonly<Record<string, unknown>>;

/**
 * Whether an element of a list fits the filter in a path such as `emails[type eq "work"]`. Names and texts compare
 * whatever their case. `usualType` is the type of elements that say none (contract D.27). Throws `invalid` (invalidPath)
 * for what cannot stand there.
 */
export function matches(element: Element, filter: Filter, usualType: string): boolean {
  const again = (inner: Filter) => matches(element, inner, usualType);
  switch (filter.op) {
    case "and":
      return filter.filters.every(again);
    case "or":
      return filter.filters.some(again);
    case "not":
      return !again(filter.filter);
    case "[]":
      throw refusal("invalidPath", "A value filter cannot hold another one.");
    case "pr":
      return !isNothing(valueOf(element, filter.attrPath, usualType));
    default:
      return compare(valueOf(element, filter.attrPath, usualType), filter);
  }
}

function valueOf(element: Element, name: string, usualType: string): unknown {
  const wanted = name.toLowerCase();
  const key = Object.keys(element).find((each) => each.toLowerCase() === wanted);
  const value = key === undefined ? undefined : element[key];
  return value === undefined && wanted === "type" ? usualType : value;
}

function isNothing(value: unknown): boolean {
  return value === undefined || value === null || value === "";
}

function compare(value: unknown, { op, compValue }: Compare): boolean {
  const left = fold(value);
  const right = fold(compValue);
  switch (op) {
    case "eq":
      return isNothing(compValue) ? isNothing(value) : left === right;
    case "ne":
      return isNothing(compValue) ? !isNothing(value) : left !== right;
    case "co":
      return isText(left, right) && left.includes(right as string);
    case "sw":
      return isText(left, right) && left.startsWith(right as string);
    case "ew":
      return isText(left, right) && left.endsWith(right as string);
    default:
      return isText(left, right) && isOrdered(op, left, right as string);
  }
}

function isOrdered(op: "gt" | "ge" | "lt" | "le", left: string, right: string): boolean {
  const order = left < right ? -1 : left > right ? 1 : 0;
  return { gt: order > 0, ge: order >= 0, lt: order < 0, le: order <= 0 }[op];
}

function isText(left: unknown, right: unknown): left is string {
  return typeof left === "string" && typeof right === "string";
}

/** `primary eq "True"` is sent as well as `primary eq true`. */
function fold(value: unknown): unknown {
  if (typeof value !== "string") {
    return value;
  }
  const text = value.toLowerCase();
  return text === "true" ? true : text === "false" ? false : text;
}
