import type { Generated } from "kysely";
import type { PluginDatabase } from "#kernel/plugin.ts";

/** How an account signs in, one row an account (configuration document, Auth). */
export interface AuthTable {
  /** The account's id. */
  id: string;
  /** Lower-case; the same as the account's. */
  email: string;
  /** Encoded hash; says itself which algorithm made it. */
  password: string;
  /** False for a deactivated account: nothing it holds is accepted. */
  active: boolean;
  /** True while somebody else knows the password: the next sign-in asks for an own one. */
  must_change: Generated<boolean>;
}

/** The link by which a person chooses a password, at most one an account. */
export interface AccountInvitationTable {
  user_id: string;
  /** SHA-256 of its token in hex. */
  hash: string;
  expires_at: number;
}

/** An import of many accounts, kept for who looks how far it is. */
export interface AccountImportTable {
  id: string;
  /** The administrator who began it. */
  user_id: string;
  total: number;
  done: number;
  added: number;
  state: "running" | "done" | "failed";
  /** An ImportLine for each account; null until it has ended. */
  results: unknown;
  updated_at: number;
}

/** At most one row an account (configuration document, API key). */
export interface ApiKeyTable {
  /** `key_<user id>`. */
  id: string;
  user_id: string;
  /** SHA-256 of the key in hex: the key itself is shown once and kept nowhere. */
  key: string;
  /** Last four characters of the key, to recognise it by. */
  hint: string;
  data: unknown;
  expires_at: number | null;
  last_used_at: number | null;
  created_at: number;
  updated_at: number;
}

/** Recent sign-in tries of an account or an address, counted over all replicas. */
export interface SignInThrottleTable {
  /** `email:<address>`, `address:<ip>` or `user:<id>`. */
  subject: string;
  /** Times of the tries that count, epoch seconds, oldest first. */
  tries: number[];
  /** True when the last try was let through. */
  allowed: boolean;
  updated_at: number;
}

/** A session that somebody signed in for; it is live while its stamp is the account's and it has not expired. */
export interface AccountSessionTable {
  /** `jti` of its tokens. */
  id: string;
  user_id: string;
  stamp: string;
  method: string;
  /** Where the sign-in came from. */
  address: string | null;
  /** User-Agent header of the sign-in. */
  client: string | null;
  /** Null = never. */
  expires_at: number | null;
  /** Exact to a minute. */
  last_used_at: number;
  created_at: number;
  /** When the person last proved who they are since the sign-in, epoch seconds. */
  proved_at: number | null;
  /** When they last did so with a second factor. */
  factor_at: number | null;
}

export interface AccountsTables {
  account_import: AccountImportTable;
  account_invitation: AccountInvitationTable;
  account_session: AccountSessionTable;
  auth: AuthTable;
  api_key: ApiKeyTable;
  sign_in_throttle: SignInThrottleTable;
}

/** The plugin's database handle, or a transaction on it. */
export type AccountsDatabase = PluginDatabase<AccountsTables>;
