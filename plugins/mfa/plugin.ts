import { definePlugin, tables } from "#kernel/plugin.ts";
import { createSeal } from "#kernel/seal.ts";
import { fill, optional } from "#kernel/service.ts";
import { configuration, deployment, events } from "#kernel/services.ts";
import { outsideSignIn, secondFactors, sessionStarts } from "#plugins/accounts/service.ts";
import { audit } from "#plugins/audit/service.ts";
import { configParts } from "#plugins/settings/service.ts";
import { sweepChallenges } from "./challenges.ts";
import { mfaVariables } from "./config.ts";
import type { MfaDeps } from "./deps.ts";
import { adminRoutes } from "./http/admin-routes.ts";
import { ownRoutes } from "./http/own-routes.ts";
import { stepRoutes } from "./http/routes.ts";
import { createMfa } from "./migrations/0001_mfa.ts";
import { isBypassed, isRequired } from "./policy.ts";
import { resetCommand } from "./reset.ts";
import { findNextStep } from "./sign-in.ts";
import type { MfaTables } from "./tables.ts";

const hour = 3600;

export default definePlugin({
  id: "mfa",
  title: "Second factor",
  summary: "Codes of an app, recovery codes and passkeys at sign-in.",
  config: mfaVariables,
  uses: { audit: optional(audit), configuration, deployment, events, outsideSignIn, sessions: sessionStarts },
  tables: tables<MfaTables>("mfa_account", "mfa_recovery_code", "mfa_passkey", "mfa_challenge"),
  pages: [
    {
      id: "mfa.security",
      path: "/settings/security",
      title: "Security",
      icon: "shield",
      place: "settings",
      order: 2,
      access: "user",
    },
    {
      id: "mfa.admin",
      path: "/admin/second-factor",
      title: "Second factor",
      icon: "shield",
      place: "admin",
      group: "people",
      order: 60,
      access: "admin",
    },
  ],
  migrations: { "0001_mfa": createMfa },
  commands: [resetCommand],

  setup({ config, use, db, transaction, log }) {
    const deps: MfaDeps = {
      db,
      transaction,
      config,
      sessions: use.sessions,
      seal: createSeal(config.encryptionKey || use.deployment.secretKey, "mfa"),
      name: use.deployment.name,
      isPasswordOn: () => use.outsideSignIn.isPasswordOn(),
      emit: (event, userId, data = {}) =>
        use.events.announce(event, {
          actor: { id: typeof data["by"] === "string" ? data["by"] : userId },
          subject: { type: "user", id: userId },
          data: { ...data, user_id: userId },
        }),
      record: async (entry, tx) => await use.audit?.record(entry, tx),
    };
    const names = new Set(Object.values(mfaVariables).map(({ name }) => name));
    use.configuration.onChange((changed) => {
      if (changed.some((name) => names.has(name))) {
        // Sessions that need a second factor by now are refused from here on, on every replica.
        deps.sessions.changed({ all: true }).catch((error: unknown) => {
          log.warn(
            { err: error },
            "changed rules of the second factor could not be announced to other replicas",
          );
        });
      }
    });
    return {
      routes: { api: [...stepRoutes(deps), ...ownRoutes(deps), ...adminRoutes(deps, use.configuration)] },
      fills: [
        fill(secondFactors, {
          nextStep: (account, method) => findNextStep(deps, account, method),
          isDemanded: (account, method) => isRequired(config, account) && !isBypassed(config, method),
        }),
        fill(configParts, () => ({ features: { enable_mfa: config.enabled } })),
      ],
      jobs: [
        {
          id: "mfa.sweep",
          title: "Removes expired two-factor challenges",
          every: hour,
          run: () => sweepChallenges(db),
        },
      ],
    };
  },
});
