import type { Server } from "node:http";
import { listen as listenOn } from "listhen";
import type { NodeHandler } from "./application.ts";

// The declared type wants two numbers; no range at all is what the library understands as "this port or none".
const noRange = [] as unknown as [number, number];

export interface ListenOptions {
  readonly port: number;
  readonly host: string;
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
export async function openListener(handler: NodeHandler, { port, host }: ListenOptions): Promise<Listening> {
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
  });
  const server = listener.server as Server;
  // The body readers have patience of their own; this one would cut long uploads.
  server.requestTimeout = 0;
  server.headersTimeout = 60_000;
  server.keepAliveTimeout = 65_000;
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
