import type { Deployment } from "#kernel/services.ts";
import type { Logger } from "#kernel/log.ts";
import type { Sockets, SocketServerParts } from "#kernel/sockets/server.ts";
import type { RealtimeConfig } from "../config.ts";
import type { HttpClients } from "../http/clients.ts";
import type { Channels } from "../hub/channels.ts";
import { createAdmission } from "./admission.ts";
import { signIn } from "./connection.ts";
import { createDispatch } from "./dispatch.ts";
import type { Members } from "./members.ts";
import type { RoomRenewal } from "./room-renewal.ts";
import { createRenewal } from "./renewal.ts";
import { createSockets } from "./sockets.ts";

export interface OpenSocketsOptions extends SocketServerParts {
  readonly config: RealtimeConfig;
  readonly log: Logger;
  readonly instanceId: Deployment["instanceId"];
  readonly members: Members;
  readonly channels: Channels;
  readonly rooms: RoomRenewal;
  /** Clients without a WebSocket. */
  readonly httpClients: Pick<HttpClients, "open" | "close">;
}

/** Builds the WebSocket side: admission, dispatch of events, and renewal of credentials. */
export function openSockets(options: OpenSocketsOptions): Sockets {
  const { config, log, instanceId, members, channels, handlers, authenticator } = options;
  const admission = createAdmission(options);
  const renewal = createRenewal({ members, authenticator, rooms: options.rooms });
  const dispatch = createDispatch({
    handlers,
    members,
    channels,
    log,
    instanceId,
    signIn: (session, token) => signIn(session, token, { admission, renewal }),
  });
  const parts = {
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
  };
  options.httpClients.open({ ...parts, keyHeader: () => authenticator.keyHeader() });
  const sockets = createSockets(parts);
  return {
    ...sockets,
    close() {
      sockets.close();
      options.httpClients.close();
    },
  };
}
