import type { IncomingMessage, Server } from "node:http";
import { listen as listenOn } from "listhen";
import type { Sockets } from "#kernel/sockets/server.ts";
import type { NodeHandler } from "./application.ts";

// The declared type wants two numbers; no range at all is what the library understands as "this port or none".
const noRange = [] as unknown as [number, number];

export interface ListenOptions {
  readonly port: number;
  readonly host: string;
  readonly sockets?: Pick<Sockets, "isOurs" | "upgrade">;
}

export interface Listening {
  readonly url: string;
  readonly port: number;
  /** Stops accepting connections and closes idle ones; resolves when the last request has ended. */
  close(): Promise<void>;
  /** Breaks what is still open. */
  breakConnections(): void;
}

/** Opens the listener. Throws with a clear text when the port is taken. Port 0 picks a free one. */
export async function openListener(
  handler: NodeHandler,
  { port, host, sockets }: ListenOptions,
): Promise<Listening> {
  const listener = await listenOn(handler as never, {
    autoClose: false,
    showURL: false,
    hostname: host,
    // listhen would move to another port silently; a port that is taken has to be an error.
    port: port === 0 ? { random: true } : { port, random: false, alternativePortRange: noRange, ports: [] },
    name: "Millrace",
    tunnel: false,
    clipboard: false,
    open: false,
    qr: false,
    // Called with request, socket and head, whatever its declared type says.
    ...(sockets && { ws: sockets.upgrade as never }),
  });
  const server = listener.server as Server;
  // The body readers have patience of their own; this one would cut long uploads.
  server.requestTimeout = 0;
  server.headersTimeout = 60_000;
  server.keepAliveTimeout = 65_000;
  // Without it, a client that offers another protocol, such as HTTP/2, would get no answer at all.
  Object.assign(server, { shouldUpgradeCallback: (req: IncomingMessage) => sockets?.isOurs(req) ?? false });
  const address = server.address();
  const bound = typeof address === "object" && address ? address.port : port;
  return {
    url: `http://${host.includes(":") ? `[${host}]` : host}:${bound}`,
    port: bound,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeIdleConnections();
      }),
    breakConnections: () => server.closeAllConnections(),
  };
}
