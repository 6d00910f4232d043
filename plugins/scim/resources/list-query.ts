import { isObject } from "#config/json-values.ts";
import { maxResults } from "../discovery/discovery.ts";
import { type ResourceKind, urns } from "../discovery/urns.ts";
import { refusal, requireSchema } from "../errors.ts";
import { readAttributePath } from "../filter/attribute-path.ts";
import { parseFilter } from "../filter/parse.ts";
import { columnsOf, toCondition } from "../filter/to-sql.ts";
import { type Projection, readProjection } from "./projection.ts";
import type { Listing } from "./store.ts";
import { sql } from "kysely";

/** How many resources a list holds when the client does not say (contract §11). */
const usualCount = 20;
const largestIndex = 2_000_000_000;

/** A list that a client asked for. */
export interface ListRequest extends Listing {
  /** 1-based, as the answer tells it. */
  readonly startIndex: number;
  readonly projection: Projection;
}

/** Parameters by name, from a query string or the body of `.search`. */
export type Parameters = Readonly<Record<string, unknown>>;

/**
 * Reads the parameters of a list (RFC 7644, 3.4.2); `isOfSeveral` where other kinds of resources are searched, too. Throws
 * `invalid`.
 */
export function readListRequest(
  kind: ResourceKind,
  parameters: Parameters,
  how: { isOfSeveral?: boolean | undefined } = {},
): ListRequest {
  const given = new Map(Object.entries(parameters).map(([name, value]) => [name.toLowerCase(), value]));
  const filter = toText(given.get("filter"), "filter");
  const { startIndex, limit } = readPage(parameters);
  return {
    condition: filter === undefined ? undefined : toCondition(kind, parseFilter(filter), how),
    order: toOrder(kind, toText(given.get("sortby"), "sortBy"), toText(given.get("sortorder"), "sortOrder")),
    startIndex,
    offset: startIndex - 1,
    limit,
    projection: readProjection(given),
  };
}

/** Reads where a page begins and how long it may be. Throws `invalid`. */
export function readPage(parameters: Parameters): { readonly startIndex: number; readonly limit: number } {
  const given = new Map(Object.entries(parameters).map(([name, value]) => [name.toLowerCase(), value]));
  const startIndex = toInteger(given.get("startindex"), "startIndex") ?? 1;
  const count = toInteger(given.get("count"), "count") ?? usualCount;
  return {
    startIndex: Math.min(Math.max(startIndex, 1), largestIndex),
    limit: Math.min(Math.max(count, 0), maxResults),
  };
}

/** Reads the body of `.search` (RFC 7644, 3.4.3). Throws `invalid`. */
export function readSearchBody(body: unknown): Parameters {
  if (!isObject(body)) {
    throw refusal("invalidSyntax", "The body must be an object.");
  }
  const schemas = Object.entries(body).find(([name]) => name.toLowerCase() === "schemas")?.[1];
  requireSchema(schemas, urns.searchRequest, "invalidSyntax");
  return body;
}

function toOrder(
  kind: ResourceKind,
  by: string | undefined,
  direction: string | undefined,
): Listing["order"] {
  const order = (direction ?? "ascending").toLowerCase();
  if (order !== "ascending" && order !== "descending") {
    throw refusal("invalidValue", "sortOrder must be ascending or descending.");
  }
  if (by === undefined) {
    return undefined;
  }
  const path = readAttributePath(kind, by);
  if (path === "ignored") {
    return undefined;
  }
  const columns = columnsOf(kind);
  const column = path && Object.hasOwn(columns, path.name) ? columns[path.name] : undefined;
  const part =
    column?.kind === "parts" && path?.part !== undefined && Object.hasOwn(column.parts, path.part)
      ? column.parts[path.part]
      : column;
  if (part === undefined || part.kind === "many" || part.kind === "parts" || part.kind === "absent") {
    throw refusal("invalidPath", `Resources cannot be sorted by ${by.slice(0, 100)}.`);
  }
  const folded = part.exact === true ? part.sql : sql`lower(${part.sql})`;
  // The order of code points: the same on every database. Those without a value stand last, or first when descending.
  const value = part.kind === "text" ? sql`${folded} collate "C"` : part.sql;
  return { by: value, direction: order === "ascending" ? "asc" : "desc" };
}

function toText(value: unknown, name: string): string | undefined {
  if (value === undefined || value === null || value === "") {
    return undefined;
  }
  if (typeof value !== "string") {
    throw refusal(name === "filter" ? "invalidFilter" : "invalidValue", `${name} must be one text.`);
  }
  return value;
}

function toInteger(value: unknown, name: string): number | undefined {
  if (value === undefined || value === null || value === "") {
    return undefined;
  }
  const number = typeof value === "string" && /^[+-]?\d{1,15}$/.test(value.trim()) ? Number(value) : value;
  if (!Number.isInteger(number)) {
    throw refusal("invalidValue", `${name} must be a whole number.`);
  }
  return number as number;
}
