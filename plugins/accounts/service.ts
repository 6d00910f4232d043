import type { Principal } from "#kernel/access/principal.ts";
import { defineService } from "#kernel/service.ts";

/** The part of an account that lists of other records carry. */
export interface AccountSummary {
  readonly id: string;
  readonly name: string;
  readonly email: string;
  readonly role: string;
}

/** What other plugins may ask of accounts. */
export interface Accounts {
  /** Summaries of the accounts that exist, by id. */
  summaries(ids: readonly string[]): Promise<Map<string, AccountSummary>>;
  /** The caller that work on behalf of an account runs as; undefined when it is gone or pending. */
  principalOf(userId: string): Promise<Principal | undefined>;
  /** True while no account exists. */
  isEmpty(): Promise<boolean>;
  /** The caller's settings object (`{ui: {…}}`), defaults filled in. */
  settingsOf(userId: string): Promise<Record<string, unknown>>;
}

export const accounts = defineService<Accounts>("accounts");
