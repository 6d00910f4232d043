import type { GrantInput } from "#storage/grants.ts";

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

function toBag(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}
