import type { Principal } from "#kernel/access/principal.ts";

/** The accounts that may use models without a record (contract D.13); administrators always may. */
export type Audience = "admins" | "everyone" | { readonly groups: readonly string[] };

/** True when the caller belongs to the audience. */
export function isAmong(audience: Audience, caller: Pick<Principal, "role" | "groupIds">): boolean {
  if (caller.role === "admin" || typeof audience === "string") {
    return caller.role === "admin" || audience === "everyone";
  }
  return caller.role === "user" && audience.groups.some((id) => caller.groupIds.includes(id));
}

/** Those who belong to both. */
export function toCommonAudience(one: Audience, other: Audience): Audience {
  if (one === "everyone" || other === "everyone") {
    return one === "everyone" ? other : one;
  }
  if (one === "admins" || other === "admins") {
    return "admins";
  }
  return { groups: one.groups.filter((id) => other.groups.includes(id)) };
}
