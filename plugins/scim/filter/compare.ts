import { type RawBuilder, sql, type SqlBool } from "kysely";
import type { Compare } from "scim2-parse-filter";
import { refusal } from "../errors.ts";
import type { ValueColumn } from "./columns.ts";

type Condition = RawBuilder<SqlBool>;

/** Whether there is a value; an empty text is none (RFC 7643, 2.5). */
export function isPresent(column: ValueColumn): Condition {
  return column.kind === "text"
    ? sql`coalesce(${column.sql} <> '', false)`
    : sql`(${column.sql} is not null)`;
}

/** Compares a value with that of the filter; what is not there differs from everything. */
export function compare(column: ValueColumn, leaf: Compare): Condition {
  const { op, compValue } = leaf;
  if (compValue === null) {
    if (op !== "eq" && op !== "ne") {
      throw unfit(leaf, "null can be compared by eq and ne alone");
    }
    return op === "ne" ? isPresent(column) : sql`(not ${isPresent(column)})`;
  }
  switch (column.kind) {
    case "boolean":
      return compareFlag(column, leaf);
    case "time":
      return compareTime(column, leaf);
    case "text":
      return compareText(column, leaf);
  }
}

function compareFlag(column: ValueColumn, leaf: Compare): Condition {
  const flag = toFlag(leaf.compValue);
  if (flag === undefined || (leaf.op !== "eq" && leaf.op !== "ne")) {
    throw unfit(leaf, "a boolean can be compared with true or false by eq and ne alone");
  }
  return leaf.op === "eq"
    ? sql`coalesce(${column.sql} = ${flag}, false)`
    : sql`coalesce(${column.sql} <> ${flag}, true)`;
}

/** Some providers send booleans as texts. */
function toFlag(value: Compare["compValue"]): boolean | undefined {
  const text = String(value).toLowerCase();
  return text === "true" ? true : text === "false" ? false : undefined;
}

const isoTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/;

function compareTime(column: ValueColumn, leaf: Compare): Condition {
  const operator = orders[leaf.op];
  const ms =
    typeof leaf.compValue === "string" && isoTime.test(leaf.compValue)
      ? Date.parse(leaf.compValue)
      : Number.NaN;
  if (operator === undefined || Number.isNaN(ms)) {
    throw unfit(leaf, "a time is compared with a time such as 2026-01-31T12:00:00Z");
  }
  return sql`(${column.sql} ${operator} ${ms / 1000}::float8)`;
}

const orders: Readonly<Record<string, RawBuilder<unknown> | undefined>> = {
  eq: sql`=`,
  ne: sql`<>`,
  gt: sql`>`,
  ge: sql`>=`,
  lt: sql`<`,
  le: sql`<=`,
};

function compareText(column: ValueColumn, leaf: Compare): Condition {
  if (typeof leaf.compValue !== "string") {
    throw unfit(leaf, "it is compared with a text in double quotes");
  }
  if (leaf.compValue.includes("\0")) {
    throw unfit(leaf, "a NUL character is in no text");
  }
  const folded = column.exact !== true;
  const own = folded && column.lower !== true ? sql`lower(${column.sql})` : column.sql;
  const other = folded ? sql`lower(${leaf.compValue}::text)` : sql`${leaf.compValue}::text`;
  switch (leaf.op) {
    // These are written so that an index on the column serves them.
    case "eq":
      return sql`(${column.sql} is not null and ${own} = ${other})`;
    case "sw":
      return sql`(${column.sql} is not null and starts_with(${own}, ${other}))`;
    case "ne":
      return sql`coalesce(${own} <> ${other}, true)`;
    case "co":
      return sql`coalesce(strpos(${own}, ${other}) > 0, false)`;
    case "ew":
      return sql`coalesce(right(${own}, length(${other})) = ${other}, false)`;
    default:
      // The order of code points, whatever the language of the database.
      return sql`coalesce(${own} collate "C" ${orders[leaf.op]} ${other} collate "C", false)`;
  }
}

function unfit({ attrPath, op }: Compare, why: string) {
  return refusal("invalidFilter", `${attrPath.slice(0, 100)} ${op}: ${why}.`);
}
