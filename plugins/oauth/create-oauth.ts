import type { ConfigRegistry } from "#config/registry.ts";
import type { Egress } from "#kernel/egress/egress.ts";
import type { Logger } from "#kernel/log.ts";
import { createSeal } from "#kernel/seal.ts";
import type { Deployment } from "#kernel/services.ts";
import type { OutsideSignIn } from "#plugins/accounts/service.ts";
import type { OAuthConfig } from "./config.ts";
import { createBackchannel } from "./logout/backchannel.ts";
import { createSignOutStep } from "./logout/sign-out-step.ts";
import { createExchange } from "./exchange/exchange.ts";
import { createConnectedAccounts } from "./sessions/connected-accounts.ts";
import { createPeers } from "./peer.ts";
import { findProvider } from "./providers.ts";
import { createSessionStore } from "./sessions/session-store.ts";
import { createProviderTokens } from "./sessions/tokens.ts";
import { createUsedStates } from "./sessions/used-states.ts";
import { createFlows } from "./sign-in/flow.ts";
import { createTrials } from "./sign-in/trials.ts";
import type { OAuthDatabase } from "./tables.ts";

export interface OAuthContext {
  readonly config: OAuthConfig;
  readonly db: OAuthDatabase;
  readonly log: Logger;
  readonly use: {
    readonly configuration: ConfigRegistry;
    readonly deployment: Deployment;
    readonly egress: Egress;
    readonly outsideSignIn: OutsideSignIn;
  };
}

const defaultTimeout = 15;

/** Puts the parts together: providers, sign-ins on their way, people's tokens, and the ends of sessions. */
export function createOAuth({ config, db, log, use }: OAuthContext) {
  const { configuration, deployment, egress, outsideSignIn: signIn } = use;
  const sealOf = (purpose: string, key: string | null = null) =>
    createSeal(key || deployment.secretKey, purpose);
  const peers = createPeers({ egress, timeoutSeconds: () => config.timeout ?? defaultTimeout });
  const used = createUsedStates(db);
  const sessions = createSessionStore(
    db,
    sealOf("oauth-provider-session", config.sessionKey),
    () => config.maxSessions,
  );
  const trials = createTrials(db, sealOf("oauth-trial"));
  const flows = createFlows({
    peers,
    used,
    seal: sealOf("oauth-flow"),
  });
  const find = (id: string) => findProvider(config, id);
  const parts = { config, configuration, signIn, sessions, egress, log, peers, flows, trials };
  return {
    ...parts,
    backchannel: createBackchannel({ ...parts, used }),
    exchange: createExchange({ ...parts, db }),
    signOutStep: createSignOutStep({ ...parts, find }),
    connectedAccounts: createConnectedAccounts({ config, sessions }),
    tokens: createProviderTokens({ sessions, peers, find }),
    async sweep() {
      await Promise.all([used.sweep(), trials.sweep(), sessions.sweep()]);
      await sweepTries(db, config.exchangeWindow);
    },
  };
}

export type OAuth = ReturnType<typeof createOAuth>;

async function sweepTries(db: OAuthDatabase, windowSeconds: number): Promise<void> {
  const before = Math.floor(Date.now() / 1000) - 2 * windowSeconds;
  await db.deleteFrom("oauth_exchange_try").where("window_start", "<", before).execute();
}
