import type { OtherAccounts } from "#plugins/mcp/service.ts";
import type { OAuthConfig } from "../config.ts";
import { findProvider } from "../providers.ts";
import type { SessionStore } from "./session-store.ts";

/** People's sign-ins through providers in the list of their connected accounts (contract §1.2). */
export function createConnectedAccounts({
  config,
  sessions,
}: {
  readonly config: OAuthConfig;
  readonly sessions: SessionStore;
}): OtherAccounts {
  return {
    async list(userId) {
      const own = await sessions.list(userId);
      return [...new Set(own.map(({ provider }) => provider))].map((id) => {
        const provider = findProvider(config, id);
        return {
          provider: id,
          name: provider?.label ?? id,
          description: "",
          host: URL.parse(provider?.url ?? "")?.host ?? "",
          state: provider === undefined ? ("unavailable" as const) : ("connected" as const),
          since: own.findLast((each) => each.provider === id)?.created_at ?? null,
          authorize_url:
            provider === undefined ? null : `/oauth/${id}/login?redirect=%2Fsettings%2Fconnected-accounts`,
        };
      });
    },
    sessions: (userId) => sessions.list(userId),
    async disconnect(userId, provider) {
      return (await sessions.remove({ userId, provider })).length > 0;
    },
  };
}
