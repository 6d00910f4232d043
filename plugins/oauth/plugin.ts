import { definePlugin, tables } from "#kernel/plugin.ts";
import { fill, provide } from "#kernel/service.ts";
import { configuration, deployment, egress } from "#kernel/services.ts";
import { outsideSignIn, signOutSteps } from "#plugins/accounts/service.ts";
import { otherAccounts } from "#plugins/mcp/service.ts";
import { configParts } from "#plugins/settings/service.ts";
import { oauthVariables } from "./config.ts";
import { createOAuth } from "./create-oauth.ts";
import { createOAuthTables } from "./migrations/0001_oauth.ts";
import { listProviders } from "./providers.ts";
import { adminRoutes } from "./routes/admin-routes.ts";
import { exchangeRoute } from "./routes/exchange-route.ts";
import { logoutRoute } from "./routes/logout-route.ts";
import { signInRoutes } from "./routes/sign-in-routes.ts";
import { providerTokens } from "./service.ts";
import type { OAuthTables } from "./tables.ts";

export default definePlugin({
  id: "oauth",
  title: "Sign-in through providers",
  summary:
    "Sign-in with OpenID Connect, Google, Microsoft and GitHub, with roles and groups of the provider.",
  config: oauthVariables,
  uses: { configuration, deployment, egress, outsideSignIn },
  provides: [providerTokens],
  tables: tables<OAuthTables>(
    "oauth_provider_session",
    "oauth_used_state",
    "oauth_trial",
    "oauth_exchange_try",
  ),
  migrations: { "0001_oauth": createOAuthTables },
  pages: [
    {
      id: "oauth",
      path: "/admin/sign-in",
      title: "Sign-in",
      icon: "log-in",
      place: "admin",
      group: "people",
      order: 61,
      access: "admin",
    },
  ],

  setup(context) {
    const { config, log } = context;
    const oauth = createOAuth(context);
    return {
      routes: {
        api: [...adminRoutes(oauth), exchangeRoute(oauth)],
        main: [...signInRoutes(oauth), logoutRoute(oauth)],
      },
      services: [provide(providerTokens, oauth.tokens)],
      fills: [
        fill(signOutSteps, oauth.signOutStep),
        fill(otherAccounts, oauth.connectedAccounts),
        fill(configParts, () => ({
          oauth: {
            providers: Object.fromEntries(listProviders(config).map(({ id, label }) => [id, label])),
          },
        })),
      ],
      jobs: [{ id: "oauth.sweep", title: "Removes expired single sign-ons", every: 3600, run: oauth.sweep }],
      start() {
        const providers = listProviders(config);
        const lost = providers.filter(({ redirectUris }) => redirectUris.length === 0);
        if (config.publicUrl === "" && lost.length > 0) {
          const names = lost.map(({ label }) => label).join(", ");
          log.warn(
            `WEBUI_URL is not set: nobody can sign in with ${names} until it names the public address.`,
          );
        }
        providers
          .filter(({ url }) => url.startsWith("http:"))
          .forEach(({ label }) =>
            log.warn(`${label} is asked over http: whoever listens can read sign-ins.`),
          );
      },
    };
  },
});
