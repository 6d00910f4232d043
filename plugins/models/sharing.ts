import { hasPermission } from "#kernel/access/permissions.ts";
import type { Principal } from "#kernel/access/principal.ts";
import type { GrantInput } from "#storage/grants.ts";

type Held = Pick<GrantInput, "principal_type" | "principal_id" | "permission">;

/**
 * What of the wanted grants this caller may give. Contract §0: what somebody may not give is left out without an
 * error; what the model has already stays, so that sending a form back takes nothing away.
 */
export function toAllowedGrants(
  caller: Principal,
  wanted: readonly GrantInput[],
  held: readonly { principal_type: string; principal_id: string; permission: string }[],
): GrantInput[] {
  const kept = new Set(held.map((grant) => keyOf(grant as Held)));
  return wanted.filter((grant) => kept.has(keyOf(grant)) || mayGive(caller, grant));
}

/** The grants that the access control of older exports meant; undefined when the record says nothing of it. */
export function fromAccessControl(control: unknown): GrantInput[] | undefined {
  if (control === null) {
    return [{ principal_type: "user", principal_id: "*", permission: "read" }];
  }
  if (typeof control !== "object") {
    return undefined;
  }
  return (["read", "write"] as const).flatMap((permission) => {
    const { group_ids: groups, user_ids: users } = toBag((control as Record<string, unknown>)[permission]);
    const toGrants = (ids: unknown, principal_type: "user" | "group") =>
      (Array.isArray(ids) ? ids : [])
        .filter((id) => typeof id === "string" && id !== "" && (id !== "*" || principal_type === "user"))
        .map((principal_id: string) => ({ principal_type, principal_id, permission }));
    return [...toGrants(groups, "group"), ...toGrants(users, "user")];
  });
}

function mayGive(caller: Principal, { principal_type: type, principal_id: id }: GrantInput): boolean {
  if (type === "anyone") {
    return false;
  }
  if (type === "group") {
    return hasPermission(caller, "access_grants.allow_groups");
  }
  return hasPermission(caller, id === "*" ? "sharing.public_models" : "access_grants.allow_users");
}

function keyOf({ principal_type: type, principal_id: id, permission }: Held): string {
  return [type, permission, id].join(" ");
}

function toBag(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}
