import type { PluginDatabase } from "#kernel/plugin.ts";

/** What an account signs in with beside its password, at most one row an account. */
export interface MfaAccountTable {
  user_id: string;
  /** Sealed secret of the code app; null without one. */
  secret: string | null;
  /** Step of the last accepted code, which is not accepted again. */
  last_step: number | null;
  enrolled_at: number | null;
  /** Id of the account towards authenticators, base64url. */
  handle: string;
  /** Times of the wrong tries that count, epoch seconds, oldest first. */
  tries: number[];
  /** SHA-256 of the token by which the account enrols anew after a reset. */
  reset_hash: string | null;
  reset_expires_at: number | null;
  created_at: number;
}

export interface MfaRecoveryCodeTable {
  user_id: string;
  /** SHA-256 of the code in hex. */
  hash: string;
  used_at: number | null;
}

export interface MfaPasskeyTable {
  /** Of the credential, base64url. */
  id: string;
  user_id: string;
  name: string;
  /** COSE key, base64url. */
  public_key: string;
  counter: number;
  transports: unknown;
  /** Host the passkey belongs to. */
  rp_id: string;
  is_synced: boolean;
  created_at: number;
  last_used_at: number | null;
}

/** A step of a sign-in, or of a change of factors, that waits for its answer. */
export interface MfaChallengeTable {
  /** SHA-256 of the token. */
  id: string;
  /** Null while a passkey has yet to say whose sign-in it is. */
  user_id: string | null;
  step: "enroll" | "verify" | "recover" | "passkey" | "manage";
  method: string;
  /** Of the account's sessions when the challenge was made. */
  stamp: string | null;
  /** Sealed secret of an enrolment. */
  secret: string | null;
  /** Challenge that a passkey has to sign. */
  nonce: string | null;
  tries: number;
  expires_at: number;
}

export interface MfaTables {
  mfa_account: MfaAccountTable;
  mfa_recovery_code: MfaRecoveryCodeTable;
  mfa_passkey: MfaPasskeyTable;
  mfa_challenge: MfaChallengeTable;
}

/** The plugin's database handle, or a transaction on it. */
export type MfaDatabase = PluginDatabase<MfaTables>;
