import { type RawBuilder, sql, type SqlBool } from "kysely";
import type { Filter } from "scim2-parse-filter";
import type { ResourceKind } from "../discovery/urns.ts";
import { refusal } from "../errors.ts";
import { readAttributePath } from "./attribute-path.ts";
import type { Column, Columns, ManyColumn, ValueColumn } from "./columns.ts";
import { groupColumns, userColumns } from "./columns.ts";
import { compare, isPresent } from "./compare.ts";

type Condition = RawBuilder<SqlBool>;
type Leaf = Exclude<Filter, { op: "and" | "or" | "not" | "[]" }>;

const never = sql<SqlBool>`false`;
const always = sql<SqlBool>`true`;

/**
 * Translates a filter into a condition over the table of its kind. Every part is true or false, never null, so that `not`
 * turns it round. Values are parameters. Throws `invalid` (invalidFilter) for attributes and operators that do not fit;
 * where resources of several kinds are searched, an attribute that this kind lacks has no value (RFC 7644, 3.4.2.1).
 */
export function toCondition(
  kind: ResourceKind,
  filter: Filter,
  { isOfSeveral = false }: { isOfSeveral?: boolean | undefined } = {},
): Condition {
  const find = (text: string): Column => {
    const column = findColumn(kind, text);
    if (column === undefined && !isOfSeveral) {
      throw unfit(text);
    }
    return column ?? { kind: "absent" };
  };
  return translate(
    filter,
    (leaf) => toLeaf(find(leaf.attrPath), leaf),
    (path, inner) => toValuePath(find(path), path, inner),
  );
}

/** The columns of a kind of resource. */
export function columnsOf(kind: ResourceKind): Columns {
  return kind === "User" ? userColumns : groupColumns;
}

function translate(
  filter: Filter,
  toLeaf: (leaf: Leaf) => Condition,
  toValuePath: (path: string, inner: Filter) => Condition,
): Condition {
  const again = (inner: Filter) => translate(inner, toLeaf, toValuePath);
  switch (filter.op) {
    case "and":
    case "or":
      return sql`(${sql.join(filter.filters.map(again), filter.op === "and" ? sql` and ` : sql` or `)})`;
    case "not":
      return sql`(not ${again(filter.filter)})`;
    case "[]":
      return toValuePath(filter.attrPath, filter.valFilter);
    default:
      return toLeaf(filter);
  }
}

function toValuePath(column: Column, path: string, inner: Filter): Condition {
  if (column.kind === "absent") {
    return never;
  }
  if (column.kind !== "many" && column.kind !== "parts") {
    throw unfit(path);
  }
  const condition = translate(
    inner,
    (leaf) => {
      const part = Object.hasOwn(column.parts, leaf.attrPath.toLowerCase())
        ? column.parts[leaf.attrPath.toLowerCase()]
        : undefined;
      if (part === undefined) {
        throw unfit(`${path}.${leaf.attrPath}`);
      }
      return toValue(part, leaf);
    },
    (nested) => {
      throw unfit(`${path}[${nested}]`);
    },
  );
  return column.kind === "many" ? narrowed(column, requiredValue(inner), some(column, condition)) : condition;
}

/** The value that every element in question has; undefined where the filter does not say. */
function requiredValue(filter: Filter): string | undefined {
  if (filter.op === "and") {
    return filter.filters.map(requiredValue).find((value) => value !== undefined);
  }
  const isValue = filter.op === "eq" && filter.attrPath.toLowerCase() === "value";
  return isValue && typeof filter.compValue === "string" ? filter.compValue : undefined;
}

/** The same condition, for which an index finds those in question first. */
function narrowed({ candidates }: ManyColumn, value: string | undefined, condition: Condition): Condition {
  return candidates === undefined || value === undefined
    ? condition
    : sql`(${candidates(value)} and ${condition})`;
}

function toLeaf(column: Column, leaf: Leaf): Condition {
  switch (column.kind) {
    case "absent":
      // Nothing differs from every value, and equals null alone.
      return isNullComparison(leaf, "eq") || (leaf.op === "ne" && leaf.compValue !== null) ? always : never;
    case "parts":
      if (leaf.op !== "pr") {
        throw unfit(leaf.attrPath);
      }
      return sql`(${sql.join(Object.values(column.parts).map(isPresent), sql` or `)})`;
    case "many":
      return toMany(column, leaf);
    default:
      return toValue(column, leaf);
  }
}

/** A filter on a list is true when one of its values fits (RFC 7644, 3.4.2.2); `value` is what a bare name compares. */
function toMany(column: ManyColumn, leaf: Leaf): Condition {
  // A path into a list has one part here, which its elements may lack.
  const present = some(column, sql`(${sql.join(Object.values(column.parts).map(isPresent), sql` or `)})`);
  if (isNullComparison(leaf, "eq")) {
    return sql`(not ${present})`;
  }
  if (leaf.op === "pr" || isNullComparison(leaf, "ne")) {
    return present;
  }
  const value = column.parts["value"];
  if (value === undefined) {
    throw unfit(leaf.attrPath);
  }
  const found = some(column, toValue(value, leaf));
  if (leaf.op === "eq" && typeof leaf.compValue === "string") {
    return narrowed(column, leaf.compValue, found);
  }
  // What is not there differs from everything, as with one value.
  return leaf.op === "ne" ? sql`(${found} or not ${some(column, always)})` : found;
}

function toValue(column: ValueColumn, leaf: Leaf): Condition {
  return leaf.op === "pr" ? isPresent(column) : compare(column, leaf);
}

function isNullComparison(leaf: Leaf, op: "eq" | "ne"): boolean {
  return leaf.op === op && leaf.compValue === null;
}

function some({ from }: ManyColumn, condition: Condition): Condition {
  return sql`exists (select from ${from} and ${condition})`;
}

/** The column that a path names; a path into a list stands for the list with that part as its value. */
function findColumn(kind: ResourceKind, text: string): Column | undefined {
  const columns = columnsOf(kind);
  const path = readAttributePath(kind, text);
  if (path === "ignored") {
    return { kind: "absent" };
  }
  const column = path && Object.hasOwn(columns, path.name) ? columns[path.name] : undefined;
  if (path?.part === undefined) {
    return column;
  }
  if (column === undefined) {
    return undefined;
  }
  const part =
    (column.kind === "many" || column.kind === "parts") && Object.hasOwn(column.parts, path.part)
      ? column.parts[path.part]
      : undefined;
  if (part === undefined || column.kind !== "many") {
    return part;
  }
  // Candidates are found by the value of an element, not by any other part of it.
  const { kind: many, from, candidates } = column;
  return {
    kind: many,
    from,
    parts: { value: part },
    ...(candidates && path.part === "value" && { candidates }),
  };
}

function unfit(attribute: string) {
  return refusal("invalidFilter", `The attribute ${attribute.slice(0, 100)} cannot be filtered this way.`);
}
