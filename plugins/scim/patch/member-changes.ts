import { isObject } from "#config/json-values.ts";
import type { Operation } from "./operations.ts";
import { readTarget, type Target } from "./path.ts";
import { toValue } from "./values.ts";

/** A PATCH of a group that names the members it adds and takes out; the others are not read. */
export interface MemberChanges {
  readonly add: readonly string[];
  readonly remove: readonly string[];
  /** The operations on other attributes, in their order. */
  readonly others: readonly Operation[];
}

type AttributeTarget = Extract<Target, { kind: "attribute" }>;

/**
 * Tells changes that need no look at the members a group has, so that they cost the same in a group of any size; undefined
 * where an operation depends on them. Throws `invalid` for operations that do not fit.
 */
export function readMemberChanges(operations: readonly Operation[]): MemberChanges | undefined {
  const isMember = new Map<string, boolean>();
  const others: Operation[] = [];
  for (const operation of operations.flatMap(splitMembers)) {
    const target = operation.path === undefined ? undefined : toMembers(operation.path);
    if (target === undefined) {
      others.push(operation);
      continue;
    }
    const ids = namedIds(target, operation);
    // Providers may write an id in another case than it is stored in.
    if (ids === undefined || ids.some((id) => id !== id.toLowerCase())) {
      return undefined;
    }
    ids.forEach((id) => isMember.set(id, operation.op === "add"));
  }
  const all = [...isMember];
  return {
    add: all.filter(([, isIn]) => isIn).map(([id]) => id),
    remove: all.filter(([, isIn]) => !isIn).map(([id]) => id),
    others,
  };
}

/** A value without a path may name members beside other attributes. */
function splitMembers(operation: Operation): Operation[] {
  const { path, value } = operation;
  const isWhole = path === undefined || readTarget("Group", path).kind === "resource";
  if (!isWhole || !isObject(value)) {
    return [operation];
  }
  const entries = Object.entries(value);
  const members = entries.filter(([name]) => toMembers(name) !== undefined);
  if (members.length === 0) {
    return [operation];
  }
  const rest = Object.fromEntries(entries.filter((entry) => !members.includes(entry)));
  return [
    { ...operation, path: undefined, value: rest },
    ...members.map(([name, given]) => ({ ...operation, path: name, value: given })),
  ];
}

function toMembers(path: string): AttributeTarget | undefined {
  const target = readTarget("Group", path);
  return target.kind === "attribute" && target.attribute.name === "members" ? target : undefined;
}

/** The ids that an operation adds or takes out; undefined where it depends on the members there are. */
function namedIds({ attribute, part, filter }: AttributeTarget, { op, value }: Operation) {
  if (part !== undefined || op === "replace") {
    return undefined;
  }
  if (filter !== undefined) {
    const isOne = op === "remove" && filter.op === "eq" && filter.attrPath.toLowerCase() === "value";
    return isOne && typeof filter.compValue === "string" ? [filter.compValue] : undefined;
  }
  // Without values all members are taken out.
  if (op === "remove" && !Array.isArray(value) && !isObject(value)) {
    return undefined;
  }
  const members = (toValue(attribute, value) ?? []) as { readonly value: string }[];
  return members.map((member) => member.value);
}
