import { createRegistry } from "#config/registry.ts";
import type { Environment } from "#config/variable.ts";
import { openTestDatabase } from "#storage/testing.ts";
import { type AccountChanges, openAccountChanges } from "./account-changes.ts";
import { toImageRules } from "./create-accounts.ts";
import { createAuthenticator } from "./sessions/authenticator.ts";
import { config as variables } from "./config.ts";
import type { AccountsDeps } from "./deps.ts";
import { createLastSeen } from "./sessions/last-seen.ts";
import { migrations } from "./migrations.ts";
import { createPasswords } from "./passwords/passwords.ts";
import {
  createPermissionDefaults,
  platformPermissions,
  toEnvironmentDefaults,
} from "./permissions/permissions.ts";
import { uniteSecondFactors } from "./second-factor.ts";
import { createSessionTokens } from "./sessions/session.ts";
import type { AccountsTables } from "./tables.ts";
import { createThrottle, signInLimits, type Subject } from "./sign-in/throttle.ts";
import { createUser } from "./users/users-store.ts";
import type { PluginDatabase } from "#kernel/plugin.ts";
import type { Principal, Role } from "#kernel/access/principal.ts";

export const testSecret = "a secret for tests that is long enough";
const quiet = { warn() {}, info() {} } as unknown as AccountsDeps["log"];

/** The parts of this plugin on a real database, put together as `plugin.ts` does. */
export async function openTestAccounts(environment: Environment = {}) {
  const database = await openTestDatabase([{ owner: "accounts", migrations }]);
  const db = database.db as PluginDatabase<AccountsTables>;
  const replica = async (other = environment) => await openReplica(database, other);
  return { database, db, close: () => database.close(), replica, ...(await replica()) };
}

export type TestAccounts = Awaited<ReturnType<typeof openTestAccounts>>;

/** Opens the settings, caches and subscriptions of one process. */
async function openReplica(database: Awaited<ReturnType<typeof openTestDatabase>>, environment: Environment) {
  const db = database.db as PluginDatabase<AccountsTables>;
  const registry = createRegistry(environment);
  const config = registry.declare("accounts", variables);
  const changes: AccountChanges = await openAccountChanges({
    notify: database.notify,
    isHearing: database.isHearing,
    async listen(channel, handler, onGap) {
      database.onListenGap(onGap);
      await database.listen(channel, handler);
    },
  });
  const emitted: { event: string; data: Record<string, unknown> }[] = [];
  const deps: AccountsDeps = {
    db,
    transaction: (run) => database.transaction((tx) => run(tx as unknown as typeof db)),
    config,
    changes,
    record: async () => {},
    emit: (event, data) => void emitted.push({ event, data }),
    permissions: createPermissionDefaults({
      declared: () => platformPermissions,
      environment: () => toEnvironmentDefaults(config),
      stored: () => config.permissions,
    }),
    passwords: createPasswords({ algorithm: config.hashAlgorithm, hashCost: 4 }),
    tokens: createSessionTokens({
      secret: testSecret,
      lifetime: () => (config.jwtLifetime.ms === null ? null : config.jwtLifetime.ms / 1000),
    }),
    throttle: createThrottle(db, signInLimits),
    images: toImageRules(config),
    secondFactor: uniteSecondFactors({ list: () => [] }),
    log: quiet,
  };
  const lastSeen = createLastSeen(db, quiet);
  const views = { areOpen: true };
  const authenticator = createAuthenticator({
    ...deps,
    lastSeen,
    appKeys: { list: () => [] },
    mayView: () => views.areOpen,
  });
  return { registry, deps, emitted, lastSeen, authenticator, views };
}

let count = 0;

/** Stores an account; its password is not one that anybody can type. */
export async function storeUser(
  db: AccountsDeps["db"],
  role: Role = "user",
  email = `user${++count}@example.org`,
) {
  const user = await createUser(db, { email, name: `User ${count}`, role, passwordHash: "not a hash" });
  if (user === undefined) {
    throw new Error(`${email} is taken`);
  }
  return user;
}

/** Counts `count` tries of just now for what the throttle calls `subject`. */
export async function useUp(db: AccountsDeps["db"], subject: Subject, count: number): Promise<void> {
  const now = Math.floor(Date.now() / 1000);
  const row = { subject, tries: Array.from({ length: count }, () => now), allowed: true, updated_at: now };
  await db.insertInto("sign_in_throttle").values(row).execute();
}

/** A caller as routes get it; `more` overrides. */
export function toCaller(
  user: { id: string; name: string; email: string; role: Role },
  more: Partial<Principal> = {},
): Principal {
  return {
    userId: user.id,
    role: user.role,
    name: user.name,
    email: user.email,
    groupIds: [],
    permissions: {},
    credential: "session",
    session: { id: "test", expiresAt: null },
    ...more,
  };
}
