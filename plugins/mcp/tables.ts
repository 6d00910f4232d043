import type { PluginDatabase } from "#kernel/plugin.ts";

/** A person's tokens at a server; `token` is encrypted (configuration document, oauth_session). */
export interface OAuthSessionRow {
  id: string;
  user_id: string;
  /** `mcp:<server id>`. */
  provider: string;
  token: string;
  /** Epoch seconds; null when the server does not say. */
  expires_at: number | null;
  /** Scopes that the server asked for since, separated by spaces: the person has to sign in once more. */
  wanted_scope: string | null;
  /** Epoch seconds until which one process renews the token, and others wait. */
  renewed_until: number | null;
  created_at: number;
  updated_at: number;
}

/** A sign-in that waits for its callback. */
export interface OAuthFlowRow {
  /** SHA-256 of the parameter `state`. */
  state: string;
  user_id: string;
  provider: string;
  /** Encrypted: verifier, registration, address to return to. */
  flow: string;
  expires_at: number;
}

/** A registration that was made when the first person signed in; `registration` is encrypted. */
export interface OAuthClientRow {
  provider: string;
  registration: string;
  updated_at: number;
}

export interface McpTables {
  oauth_session: OAuthSessionRow;
  oauth_flow: OAuthFlowRow;
  oauth_client: OAuthClientRow;
}

export type McpDatabase = PluginDatabase<McpTables>;
