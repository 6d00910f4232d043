import type { PermissionTree } from "./permissions.ts";

export type Role = "admin" | "user" | "pending";

/** The caller. Frozen; built by the authenticator and shared between requests of the same credential. */
export interface Principal {
  readonly userId: string;
  readonly role: Role;
  readonly name: string;
  readonly email: string;
  readonly groupIds: readonly string[];
  /** Effective tree: defaults OR-ed with every group's. */
  readonly permissions: PermissionTree;
  /** The kind of the credential: a session token or an API key. */
  readonly credential: "session" | "api_key";
  /** The session token's `jti` and expiry (epoch seconds, null = never); null for keys. */
  readonly session: { readonly id: string; readonly expiresAt: number | null } | null;
  /** The automation whose run acts for the account; absent where a person acts, and never taken from a request. */
  readonly automationId?: string;
  /** The administrator who looks with this account's eyes; such a caller changes nothing and opens no socket. */
  readonly viewer?: { readonly id: string; readonly name: string };
  /** The app that acts with a key of its own, and its scopes; left out for people. */
  readonly app?: { readonly id: string; readonly scopes: readonly string[] };
}

/** True for the roles that may use the platform; a pending account may not. */
export function isMember(principal: Principal): boolean {
  return principal.role === "user" || principal.role === "admin";
}
