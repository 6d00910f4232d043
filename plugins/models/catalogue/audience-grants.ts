import type { Audience } from "#kernel/completion/audience.ts";
import type { GrantInput } from "#storage/grants.ts";

/** The grants that let the same people in as a connection does for its models without a record (contract D.13). */
export function toGrants(audience: Audience): GrantInput[] {
  if (audience === "admins") {
    return [];
  }
  return audience === "everyone"
    ? [{ principal_type: "user", principal_id: "*", permission: "read" }]
    : audience.groups.map((id) => ({ principal_type: "group", principal_id: id, permission: "read" }));
}
