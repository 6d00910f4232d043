import { AppError, type ErrorCode } from "#kernel/errors.ts";

/** Words of RFC 7644, 3.12 for programs that read a refusal. */
export type ScimReason =
  | "invalidFilter"
  | "invalidPath"
  | "invalidSyntax"
  | "invalidValue"
  | "mutability"
  | "noTarget"
  | "tooMany"
  | "uniqueness";

/** A refusal with status 400 and its `scimType`. */
export function refusal(reason: ScimReason, detail: string): AppError {
  return new AppError("invalid", detail, { reason });
}

/** Throws `invalid` (`reason`) unless the `schemas` of a body name this one (RFC 7643, 3; RFC 7644, 3.5.2). */
export function requireSchema(schemas: unknown, urn: string, reason: "invalidSyntax" | "invalidValue"): void {
  const isNamed =
    Array.isArray(schemas) &&
    schemas.some((each) => typeof each === "string" && each.toLowerCase() === urn.toLowerCase());
  if (!isNamed) {
    throw refusal(reason, `schemas must name ${urn}.`);
  }
}

/** A refusal with status 409: the value belongs to another resource. */
export function taken(detail: string): AppError {
  return new AppError("conflict", detail, { reason: "uniqueness" });
}

/** The answer for an id that stands for nothing, or for what was removed. */
export function notFound(kind: "User" | "Group", id: string): AppError {
  return new AppError(
    "not_found" satisfies ErrorCode,
    `There is no ${kind} with the id ${id.slice(0, 100)}.`,
  );
}
