import type { PluginContext } from "#kernel/plugin.ts";
import type { OptionalRef } from "#kernel/service.ts";
import type { configuration, declarations, deployment, events, notices } from "#kernel/services.ts";
import type { Audit } from "#plugins/audit/service.ts";
import { openAccountChanges } from "./account-changes.ts";
import type { AccountsConfig, config as variables } from "./config.ts";
import type { AccountsDeps } from "./deps.ts";
import { createPasswords, type Passwords } from "./passwords/passwords.ts";
import { createPermissionDefaults, toEnvironmentDefaults } from "./permissions/permissions.ts";
import type { ProfileImageRules } from "./users/profile-image.ts";
import { uniteSecondFactors } from "./second-factor.ts";
import type { secondFactors } from "./service.ts";
import { createSessionTokens } from "./sessions/session.ts";
import { createEmit } from "./system-events.ts";
import type { AccountsTables } from "./tables.ts";
import { createThrottle, signInLimits } from "./sign-in/throttle.ts";

/** The kernel services the plugin's parts are made of. */
export interface AccountsUses {
  readonly audit: OptionalRef<Audit>;
  readonly configuration: typeof configuration;
  readonly declarations: typeof declarations;
  readonly deployment: typeof deployment;
  readonly events: typeof events;
  readonly notices: typeof notices;
  readonly secondFactors: typeof secondFactors;
}

type Context = Pick<
  PluginContext<typeof variables, AccountsUses & Record<string, never>, AccountsTables>,
  "config" | "use" | "db" | "transaction" | "log"
>;

/** Variables that authorization depends on: the default permissions and the rules of API keys. */
const authorizing: ReadonlySet<string> = new Set([
  "USER_PERMISSIONS",
  "ENABLE_API_KEYS",
  "ENABLE_API_KEYS_ENDPOINT_RESTRICTIONS",
  "API_KEYS_ALLOWED_ENDPOINTS",
]);

/** Creates what the parts of this plugin share. */
export async function createAccountsDeps(
  { config, use, db, transaction, log }: Context,
  hashCost: number,
): Promise<AccountsDeps> {
  const changes = await openAccountChanges(use.notices);
  use.configuration.onChange((names) => {
    if (names.some((name) => authorizing.has(name))) {
      // This process has dropped its cached callers already, and must not end because the database is away.
      changes.announce({ all: true }).catch((error: unknown) => {
        log.warn({ err: error }, "changed settings could not be announced to other replicas");
      });
    }
  });
  return {
    db,
    transaction,
    config,
    changes,
    log,
    emit: createEmit(use.events),
    record: async (entry, transaction) => await use.audit?.record(entry, transaction),
    permissions: createPermissionDefaults({
      declared: () => use.declarations.permissions(),
      environment: () => toEnvironmentDefaults(config),
      stored: () => config.permissions,
    }),
    passwords: createConfiguredPasswords(config, hashCost),
    tokens: createSessionTokens({ secret: use.deployment.secretKey, lifetime: () => toLifetime(config) }),
    throttle: createThrottle(db, signInLimits),
    images: toImageRules(config),
    secondFactor: uniteSecondFactors(use.secondFactors),
  };
}

/** Creates the password functions as the variables say. */
export function createConfiguredPasswords(config: AccountsConfig, hashCost: number): Passwords {
  return createPasswords({ algorithm: config.hashAlgorithm, hashCost, rule: () => toPasswordRule(config) });
}

/** The rule of ENABLE_PASSWORD_VALIDATION; undefined while it is off. */
function toPasswordRule(config: AccountsConfig): { pattern: RegExp; hint: string } | undefined {
  if (!config.validatePasswords) {
    return undefined;
  }
  const hint = config.passwordHint || "The password does not meet the rules of this installation.";
  return { pattern: new RegExp(config.passwordPattern, "u"), hint };
}

/** JWT_EXPIRES_IN in seconds, at least one; null = never. */
export function toLifetime(config: Pick<AccountsConfig, "jwtLifetime">): number | null {
  const { ms } = config.jwtLifetime;
  return ms === null ? null : Math.max(1, Math.floor(ms / 1000));
}

/** The live rules for profile images. */
export function toImageRules(config: AccountsConfig): ProfileImageRules {
  return {
    allowedTypes: () => config.imageTypes.map((type) => type.toLowerCase()),
    maxLength: () => config.imageMaxLength ?? undefined,
    forwardsUrls: () => config.forwardImages,
  };
}
