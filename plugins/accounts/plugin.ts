import type { ConfigRegistry } from "#config/registry.ts";
import { authenticator } from "#kernel/access/authenticator.ts";
import type { Logger } from "#kernel/log.ts";
import { definePlugin, tables } from "#kernel/plugin.ts";
import { optional, provide } from "#kernel/service.ts";
import { configuration, declarations, deployment, events, grants, notices } from "#kernel/services.ts";
import { audit } from "#plugins/audit/service.ts";
import { createAccounts } from "./accounts.ts";
import { createAccountsDeps } from "./create-accounts.ts";
import { createAuthenticator } from "./sessions/authenticator.ts";
import { type AccountsConfig, config } from "./config.ts";
import type { AccountsDeps } from "./deps.ts";
import { guardDefaultGroup, warnOfDefaultGroup } from "./groups/default-group.ts";
import { createConfiguredAdmin } from "./sign-in/first-admin.ts";
import { createOutsideSignIn } from "./sign-in/outside-sign-in.ts";
import { sweepInvitations } from "./sign-in/invitations.ts";
import { createSignUp } from "./sign-in/sign-up.ts";
import { createSessionStarts } from "./sessions/session-starts.ts";
import { createLastSeen } from "./sessions/last-seen.ts";
import { toMayView } from "./sessions/views.ts";
import { migrations } from "./migrations.ts";
import { pages } from "./pages.ts";
import { productHashCost } from "./passwords/passwords.ts";
import { platformPermissions } from "./permissions/permissions.ts";
import { createResetPasswordCommand } from "./passwords/reset-command.ts";
import { sweepRevokedSessions } from "./sessions/revoked-sessions.ts";
import { sweepSessions } from "./sessions/sessions-store.ts";
import { createProvisioning } from "./provisioning/provisioning.ts";
import { accountsRoutes, toShareRule } from "./routes.ts";
import {
  accessPreviews,
  accounts,
  appKeys,
  explainedResources,
  firstSettings,
  outsideSignIn,
  secondFactors,
  sessionStarts,
  signOutSteps,
} from "./service.ts";
import { sweepImports } from "./users/user-imports.ts";
import { createUserSettings } from "./settings/settings.ts";
import type { AccountsTables } from "./tables.ts";
import { findProxyWarnings } from "./sign-in/proxy-warnings.ts";
import { trustsHeaders } from "./sign-in/trusted-header.ts";

const hour = 3600;

const uses = {
  appKeys,
  audit: optional(audit),
  configuration,
  declarations,
  deployment,
  events,
  firstSettings,
  grants,
  notices,
  previews: accessPreviews,
  resources: explainedResources,
  secondFactors,
  signOutSteps,
};

/** Creates the plugin. Only the test set-up passes a `hashCost`: the cost of the product is no setting. */
export function createAccountsPlugin({ hashCost = productHashCost } = {}) {
  return definePlugin({
    id: "accounts",
    title: "Accounts",
    summary: "Accounts, sign-in, sessions, API keys, groups and what each may do.",
    config,
    uses,
    provides: [accounts, authenticator, outsideSignIn, sessionStarts],
    tables: tables<AccountsTables>(
      "auth",
      "api_key",
      "sign_in_throttle",
      "account_session",
      "account_invitation",
      "account_import",
    ),
    migrations,
    permissions: platformPermissions,
    pages,
    commands: [createResetPasswordCommand(hashCost)],

    async setup(context) {
      const { config, use, db, log } = context;
      const deps = await createAccountsDeps(context, hashCost);
      const lastSeen = createLastSeen(db, log);
      const settings = createUserSettings({
        ...deps,
        defaults: () => config.interfaceDefaults,
        first: () => Object.assign({}, ...use.firstSettings.list().map((each) => each.fields())),
      });
      const provisioning = createProvisioning({
        ...deps,
        defaultShare: () => toShareRule(config),
        forgetGrants: (tx, id) => use.grants.forgetPrincipal(tx, "group", id),
      });
      guardDefaultGroup(use.configuration, db);
      const closeSignUp = () => use.configuration.set({ ENABLE_SIGNUP: false }, null);
      return {
        routes: { api: accountsRoutes(deps, { ...use, settings }) },
        jobs: [
          { id: "accounts.sweep", title: "Removes expired sessions", every: hour, run: () => sweep(deps) },
        ],
        services: [
          provide(accounts, createAccounts(deps, { settings, provisioning })),
          provide(
            authenticator,
            createAuthenticator({
              ...deps,
              lastSeen,
              appKeys: use.appKeys,
              mayView: toMayView(use.configuration),
            }),
          ),
          provide(sessionStarts, createSessionStarts(deps)),
          provide(
            outsideSignIn,
            createOutsideSignIn(deps, createSignUp(deps), () => toShareRule(config)),
          ),
        ],
        async start() {
          warnOfProxies(use.configuration, context);
          await warnOfDefaultGroup(config.defaultGroup, context);
          await createConfiguredAdmin({
            ...deps,
            closeSignUp,
            opensAgain: isForgotten(use.configuration, "ENABLE_SIGNUP"),
          });
        },
        stop: () => lastSeen.stop(),
      };
    },
  });
}

export default createAccountsPlugin();

/** Deletes what has ended by its time. */
async function sweep({ db, throttle }: Pick<AccountsDeps, "db" | "throttle">): Promise<void> {
  await sweepRevokedSessions(db);
  await sweepSessions(db);
  await sweepInvitations(db);
  await sweepImports(db);
  await throttle.sweep();
}

/** True when a setting is back at its default after a restart, whatever was set before it. */
function isForgotten(configuration: ConfigRegistry, name: string): boolean {
  const isStored = configuration.valueOf("ENABLE_PERSISTENT_CONFIG") === true;
  return (
    !isStored && configuration.describe().some((each) => each.name === name && each.source === "default")
  );
}

function warnOfProxies(
  configuration: ConfigRegistry,
  { config, log }: { config: AccountsConfig; log: Logger },
): void {
  const warnings = findProxyWarnings({
    proxies: configuration.valueOf("FORWARDED_ALLOW_IPS") as string[],
    host: String(configuration.valueOf("HOST")),
    trustsHeaders: trustsHeaders(config),
  });
  warnings.forEach((warning) => log.warn(warning));
}
