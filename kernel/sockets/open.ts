import type { CoreConfig } from "#config/core.ts";
import type { BindContext } from "#kernel/http/bind.ts";
import type { Logger } from "#kernel/log.ts";
import { createAdmission } from "./admission.ts";
import { signIn } from "./connection.ts";
import { createDispatch } from "./dispatch.ts";
import type { OwnedSocketHandler } from "./handler.ts";
import type { Channels } from "./channels.ts";
import type { Members } from "./members.ts";
import { createRenewal } from "./renewal.ts";
import { createSockets, type Sockets } from "./sockets.ts";

export interface OpenSocketsOptions {
  readonly config: CoreConfig;
  readonly log: Logger;
  readonly context: Pick<BindContext, "authenticator" | "clientAddress" | "origins">;
  readonly members: Members;
  readonly channels: Channels;
  readonly handlers: readonly OwnedSocketHandler[];
}

/** Puts together what takes connections: who may come in, what they may say, and how long they stay. */
export function openSockets({
  config,
  log,
  context,
  members,
  channels,
  handlers,
}: OpenSocketsOptions): Sockets {
  const { instanceId } = config;
  const { authenticator, clientAddress, origins } = context;
  const admission = createAdmission({ authenticator, clientAddress, members, origins });
  const renewal = createRenewal({ members, authenticator });
  const dispatch = createDispatch({
    handlers,
    members,
    channels,
    log,
    instanceId,
    signIn: (session, token) => signIn(session, token, { admission, renewal }),
  });
  return createSockets({
    admission,
    renewal,
    dispatch,
    members,
    log,
    instanceId,
    isEnabled: () => config.sockets,
    isLogging: () => config.socketLogging,
    pingIntervalMs: () => config.socketPingInterval * 1000,
    pingTimeoutMs: () => config.socketPingTimeout * 1000,
  });
}
