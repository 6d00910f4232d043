import { core } from "#config/core.ts";
import type { Values } from "#config/variable.ts";
import type { Logger } from "#kernel/log.ts";
import { definePlugin, tables } from "#kernel/plugin.ts";
import { egress } from "#kernel/services.ts";
import { accounts } from "#plugins/accounts/service.ts";
import { createCallLog } from "./calls/call-log.ts";
import { config } from "./config.ts";
import { adminRoutes } from "./http/admin-routes.ts";
import { requireProvider } from "./http/gate.ts";
import { scimRoutes } from "./http/routes.ts";
import { createScim } from "./migrations/0001_scim.ts";
import { indexEmails } from "./migrations/0002_email_index.ts";
import { createTrials } from "./trial/run-trial.ts";
import { createOpenSession } from "./open-session.ts";
import type { ScimTables } from "./tables.ts";

const hour = 3600;
const shortToken = 16;

export default definePlugin({
  id: "scim",
  title: "Provisioning (SCIM)",
  summary: "Lets an identity provider manage accounts and groups.",
  config: { ...config, publicUrl: core.webuiUrl },
  uses: { accounts, egress },
  tables: tables<ScimTables>("scim_call"),
  pages: [
    {
      id: "scim",
      path: "/admin/scim",
      title: "Provisioning",
      icon: "user-plus",
      place: "admin",
      group: "people",
      order: 64,
      access: "admin",
    },
  ],
  migrations: { "0001_scim": createScim, "0002_email_index": indexEmails },

  setup({ config, use, db, transaction, log }) {
    const calls = createCallLog(db, log);
    const sessions = createOpenSession({ db, transaction, provisioning: use.accounts.provisioning, config });
    const trials = createTrials({
      transaction,
      openTrial: sessions.openTrial,
      egress: use.egress,
      token: () => config.token,
    });
    return {
      routes: {
        api: adminRoutes({
          calls,
          state: () => ({ ...config, publicUrl: config.publicUrl }),
          tryOut: trials.run,
        }),
        scim: scimRoutes({
          requireProvider: (header) => requireProvider(config, header),
          openSession: (request, base) => trials.sessionOf(request, base) ?? sessions.open(base),
          isTrial: trials.isRunning,
          calls,
        }),
      },
      jobs: [
        {
          id: "scim.trim-calls",
          title: "Trims the list of SCIM calls",
          every: hour,
          run: () => calls.trim(),
        },
      ],
      start: () => warnOfToken(config, log),
    };
  },
});

function warnOfToken({ enabled, token }: Values<typeof config>, log: Logger): void {
  if (enabled && token === "") {
    log.warn("SCIM_ENABLED is on without SCIM_TOKEN: every SCIM call is refused");
  } else if (enabled && token.length < shortToken) {
    log.warn(`SCIM_TOKEN has fewer than ${shortToken} characters and can be guessed`);
  }
}
