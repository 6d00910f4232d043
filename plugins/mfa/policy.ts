import type { AuthMethod, FactorAccount } from "#plugins/accounts/service.ts";
import type { MfaConfig } from "./config.ts";

type Policy = Pick<MfaConfig, "enabled" | "roles" | "groups" | "oauthBypass" | "headerBypass">;
type Subject = Pick<FactorAccount, "role" | "groupIds">;

/** True when the account has to have a second factor. */
export function isRequired({ enabled, roles, groups }: Policy, { role, groupIds }: Subject): boolean {
  return (
    enabled &&
    role !== "pending" &&
    (roles.includes(role) || groupIds.some((group) => groups.includes(group)))
  );
}

/** True when this way to sign in is asked for no second factor. */
export function isBypassed({ oauthBypass, headerBypass }: Policy, method: AuthMethod): boolean {
  return (
    method === "system" ||
    (method === "oauth" && oauthBypass) ||
    (method === "trusted_header" && headerBypass)
  );
}
