import { isObject } from "#config/json-values.ts";
import { urns } from "../discovery/urns.ts";
import { refusal, requireSchema } from "../errors.ts";

/** One operation of a PATCH request. */
export interface Operation {
  readonly op: "add" | "replace" | "remove";
  readonly path: string | undefined;
  /** Undefined when it was left out. */
  readonly value: unknown;
}

/** A provider may send each member of a large group as an operation of its own. */
const mostOperations = 10_000;

/** Reads the operations of a PATCH body (RFC 7644, 3.5.2). Throws `invalid` for a body that is none. */
export function readOperations(body: unknown): Operation[] {
  const request = toFields(body);
  requireSchema(request.get("schemas"), urns.patchOp, "invalidSyntax");
  const operations = request.get("operations");
  if (!Array.isArray(operations) || operations.length === 0) {
    throw refusal("invalidSyntax", "Operations must be a list with at least one operation.");
  }
  if (operations.length > mostOperations) {
    throw refusal("tooMany", `One request holds at most ${mostOperations} operations.`);
  }
  return operations.map(readOperation);
}

function readOperation(given: unknown): Operation {
  const fields = toFields(given);
  const op = fields.get("op");
  const name = typeof op === "string" ? op.toLowerCase() : "";
  if (name !== "add" && name !== "replace" && name !== "remove") {
    throw refusal("invalidSyntax", "op must be add, replace or remove.");
  }
  const path = fields.get("path");
  if (path !== undefined && path !== null && typeof path !== "string") {
    throw refusal("invalidPath", "path must be a text.");
  }
  const value = fields.get("value");
  if (name !== "remove" && value === undefined) {
    throw refusal("invalidValue", `The operation ${name} needs a value.`);
  }
  return { op: name, path: path?.trim() === "" ? undefined : (path ?? undefined), value };
}

/** Names of attributes are the same whatever their case (RFC 7643, 2.1). */
function toFields(value: unknown): Map<string, unknown> {
  if (!isObject(value)) {
    throw refusal("invalidSyntax", "The request must be an object.");
  }
  return new Map(Object.entries(value).map(([name, each]) => [name.toLowerCase(), each]));
}
