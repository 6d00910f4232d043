import { defineSlot } from "#kernel/service.ts";

/** A service that a person is signed in to, or can sign in to. */
export interface ConnectedAccount {
  readonly provider: string;
  readonly name: string;
  readonly description: string;
  readonly host: string;
  readonly state: "connected" | "needs_sign_in" | "not_connected" | "unavailable";
  /** Epoch seconds; null where the person is not signed in. */
  readonly since: number | null;
  /** Path where a sign-in begins. */
  readonly authorize_url: string | null;
}

/** Sign-ins of people that are no tool servers' (contract §1.2, §1.3). */
export interface OtherAccounts {
  list(userId: string): Promise<readonly ConnectedAccount[]>;
  sessions(userId: string): Promise<
    readonly {
      readonly id: string;
      readonly provider: string;
      readonly user_id: string;
      readonly expires_at: number | null;
      readonly created_at: number;
      readonly updated_at: number;
    }[]
  >;
  /** False when there was none. */
  disconnect(userId: string, provider: string): Promise<boolean>;
}

/** Filled by plugins that keep people's sign-ins elsewhere. */
export const otherAccounts = defineSlot<OtherAccounts>("mcp.other-accounts");
