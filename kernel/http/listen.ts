import { once } from "node:events";
import type { IncomingMessage, Server } from "node:http";
import { createServer } from "node:net";
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

/** An address that cannot be listened on; the text says why and begins in lower case. */
export class ListenError extends Error {
  override readonly name = "ListenError";
}

/** Opens the listener. Throws ListenError when that is not possible, such as on a port in use. Port 0 picks a free one. */
export async function openListener(handler: NodeHandler, options: ListenOptions): Promise<Listening> {
  const { port, host, sockets } = options;
  const listener = await listenOn(handler as never, {
    // The library tells alternatives on the terminal otherwise.
    isTest: true,
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
  }).catch(async (error: unknown) => {
    throw new ListenError(await explainRefusal(error, options), { cause: error });
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

/** The library forgets why the system refused an address, so that it is asked again. */
async function explainRefusal(error: unknown, { host, port }: ListenOptions): Promise<string> {
  const probe = createServer();
  try {
    await once(probe.listen(port, host), "listening");
  } catch (refusal) {
    const { code, message } = refusal as NodeJS.ErrnoException;
    const explain = refusals[code ?? ""];
    return explain ? explain(host, port) : `port ${port} on ${host} cannot be opened: ${message}.`;
  } finally {
    probe.close();
  }
  return `port ${port} on ${host} cannot be opened: ${(error as Error).message}.`;
}

const isNoAddress = (host: string) => `${host} is not an address of this machine.`;

const refusals: Readonly<Record<string, (host: string, port: number) => string>> = {
  EADDRINUSE: (host, port) => `port ${port} on ${host} is used by another process.`,
  EACCES: (host, port) => `this account is not allowed to open port ${port} on ${host}.`,
  EADDRNOTAVAIL: isNoAddress,
  ENOTFOUND: isNoAddress,
  EAI_AGAIN: isNoAddress,
};
