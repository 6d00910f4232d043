import type { GrantPermission, PrincipalType } from "./core-tables.ts";
import { StorageError } from "./errors.ts";

/** A grant as callers give it. */
export interface GrantInput {
  readonly principal_type: PrincipalType;
  readonly principal_id: string;
  readonly permission: GrantPermission;
}

/** The grant has no meaning, e.g. writing without sign-in. */
export class InvalidGrantError extends StorageError {
  override readonly name = "InvalidGrantError";
}

/**
 * Checks grants for a resource type and drops duplicates, and drops those for anyone where they mean nothing.
 * Throws InvalidGrantError. Configuration and records, access grant rules 1, 3 and 4.
 */
export function normaliseGrants(type: string, grants: readonly GrantInput[]): GrantInput[] {
  const kept = new Map<string, GrantInput>();
  for (const { principal_type, principal_id, permission } of grants) {
    check({ principal_type, principal_id, permission });
    if (principal_type !== "anyone" || type === "shared_chat") {
      const key = [principal_type, permission, principal_id].join(" ");
      kept.set(key, { principal_type, principal_id, permission });
    }
  }
  return [...kept.values()];
}

function check({ principal_type, principal_id, permission }: GrantInput): void {
  if (permission !== "read" && permission !== "write") {
    throw new InvalidGrantError("A grant allows read or write");
  }
  if (principal_type === "anyone") {
    if (principal_id !== "*" || permission !== "read") {
      throw new InvalidGrantError("A grant without sign-in has the principal * and allows reading only");
    }
    return;
  }
  if (principal_type !== "user" && principal_type !== "group") {
    throw new InvalidGrantError("A grant is for a user, a group or anyone");
  }
  if (principal_id === "" || (principal_type === "group" && principal_id === "*")) {
    throw new InvalidGrantError(`A grant for a ${principal_type} needs an id`);
  }
}
