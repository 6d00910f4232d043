import type { PluginDatabase } from "#kernel/plugin.ts";

/** One sign-in of a person through a provider, with the tokens that it gave. */
export interface ProviderSessionRow {
  /** Value of the cookie `oauth_session_id`. */
  id: string;
  user_id: string;
  provider: string;
  /** The person at the provider. */
  subject: string;
  /** The provider's own session (`sid`), which back-channel logouts name. */
  sid: string | null;
  /** Encrypted. */
  token: string;
  /** Of the access token, epoch seconds; null when the provider does not say. */
  expires_at: number | null;
  /** Epoch seconds until which one process renews the token, and others wait. */
  renewed_until: number | null;
  created_at: number;
  updated_at: number;
}

/** Sign-ins and logout tokens that counted already, by a hash. */
export interface UsedStateRow {
  state: string;
  expires_at: number;
}

/** Outcome of a sign-in that an administrator tried; `result` is encrypted. */
export interface TrialRow {
  id: string;
  user_id: string;
  result: string;
  expires_at: number;
}

/** Exchanges of tokens from one address within one window. */
export interface ExchangeTryRow {
  address: string;
  window_start: number;
  tries: number;
}

export interface OAuthTables {
  oauth_provider_session: ProviderSessionRow;
  oauth_used_state: UsedStateRow;
  oauth_trial: TrialRow;
  oauth_exchange_try: ExchangeTryRow;
}

export type OAuthDatabase = PluginDatabase<OAuthTables>;
