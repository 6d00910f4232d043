import type { Logger } from "#kernel/log.ts";
import type { Audit } from "#plugins/audit/service.ts";
import type { AccountChanges } from "./account-changes.ts";
import type { AccountsConfig } from "./config.ts";
import type { Passwords } from "./passwords/passwords.ts";
import type { PermissionDefaults } from "./permissions/permissions.ts";
import type { ProfileImageRules } from "./users/profile-image.ts";
import type { SecondFactor } from "./second-factor.ts";
import type { SessionTokens } from "./sessions/session.ts";
import type { AccountsDatabase } from "./tables.ts";
import type { Throttle } from "./sign-in/throttle.ts";

/** Dependencies that the parts of this plugin share; `create-accounts.ts` creates them once. */
export interface AccountsDeps {
  readonly db: AccountsDatabase;
  transaction<R>(run: (tx: AccountsDatabase) => Promise<R>): Promise<R>;
  readonly config: AccountsConfig;
  readonly changes: AccountChanges;
  /** Announces a system event (appendix A10) inside this process. */
  emit(event: string, data: Record<string, unknown>): void;
  /** Keeps what administrators do; does nothing where the audit is left out. */
  readonly record: Audit["record"];
  readonly permissions: PermissionDefaults;
  readonly passwords: Passwords;
  readonly tokens: SessionTokens;
  readonly throttle: Throttle;
  readonly images: ProfileImageRules;
  readonly secondFactor: SecondFactor;
  readonly log: Logger;
}
