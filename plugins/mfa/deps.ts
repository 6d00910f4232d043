import type { Seal } from "#kernel/seal.ts";
import type { SystemEventName } from "#kernel/system-event-names.ts";
import type { Audit } from "#plugins/audit/service.ts";
import type { SessionStarts } from "#plugins/accounts/service.ts";
import type { MfaConfig } from "./config.ts";
import type { MfaDatabase } from "./tables.ts";

/** Dependencies that the parts of this plugin share. */
export interface MfaDeps {
  readonly db: MfaDatabase;
  transaction<R>(run: (tx: MfaDatabase) => Promise<R>): Promise<R>;
  readonly config: MfaConfig;
  readonly sessions: SessionStarts;
  /** Encrypts the secrets of code apps. */
  readonly seal: Seal;
  /** Name of the installation, as code apps and authenticators show it. */
  readonly name: string;
  /** False while nobody signs in with a password. */
  isPasswordOn(): boolean;
  /** Announces a system event of an account (appendix A10, `auth.mfa.*`). */
  emit(
    event: Extract<SystemEventName, `auth.mfa.${string}`>,
    userId: string,
    data?: Record<string, unknown>,
  ): void;
  readonly record: Audit["record"];
}
