import type { IncomingMessage } from "node:http";
import { WebSocketServer } from "ws";
import { type Authenticator, concerns, type RequestFacts } from "#kernel/access/authenticator.ts";
import { isMember, type Principal } from "#kernel/access/principal.ts";
import { reauthorize, reauthorizeAll } from "#kernel/access/reauthorize.ts";
import { AppError } from "#kernel/errors.ts";
import { type Credential, findCredential } from "#kernel/http/credential.ts";
import { parseJson } from "#kernel/http/json.ts";
import type { Logger } from "#kernel/log.ts";
import { closing, toClosing } from "./closing.ts";
import { Peer } from "./peer.ts";
import type { SocketRoute } from "./route.ts";
import type { Sockets, SocketServerParts } from "./server.ts";
import { siteOf } from "./site.ts";

export type SocketRoutesParts = Omit<SocketServerParts, "handlers"> & {
  readonly log: Logger;
  routes(): readonly SocketRoute[];
};

interface Open {
  readonly peer: Peer;
  readonly facts: RequestFacts;
  credential: Credential | undefined;
  verifiedAt: number;
  isAlive: boolean;
}

/** Time for the first frame. */
const signInMs = 10_000;
const pingEveryMs = 30_000;
const checkEveryMs = 5_000;
/** Changes are announced; this bounds the harm of an announcement that was never made. */
const verifyEveryMs = 60_000;
const mostOpen = 2_000;

/**
 * Serves the WebSockets of plugins: the first frame within ten seconds signs in (contract §5.3), and whatever may change
 * the caller's rights is asked again while the connection stands (security case S99).
 */
export function createSocketRoutes(parts: SocketRoutesParts): Sockets {
  const { authenticator, log } = parts;
  const server = new WebSocketServer({ noServer: true, perMessageDeflate: false, clientTracking: false });
  const open = new Set<Open>();
  const state = { changes: 0, isStopping: false };

  const renew = (one: Open) => reauthorizeOne(one, { open, authenticator });
  const known = () => [...open].filter(({ peer }) => peer.isKnown);
  authenticator.onChange((change) => {
    state.changes += 1;
    void reauthorizeAll(
      known().filter(({ peer }) => concerns(change, peer.caller)),
      renew,
    );
  });
  const checking = setInterval(() => void reauthorizeAll(known().filter(isDue), renew), checkEveryMs).unref();
  const pinging = setInterval(() => open.forEach(ping), pingEveryMs).unref();

  function serve(one: Open, route: SocketRoute): void {
    const { peer } = one;
    open.add(one);
    peer.signal.addEventListener("abort", () => open.delete(one), { once: true });
    peer.onPong(() => (one.isAlive = true));
    const timer = setTimeout(() => peer.close(closing.unauthenticated), signInMs).unref();
    peer.takeFirst((frame) => {
      clearTimeout(timer);
      const { changes } = state;
      const run = async () => {
        const first = toFirst(frame);
        peer.first = first;
        peer.authorise(await signIn(one, first, authenticator));
        if (state.changes !== changes) {
          await renew(one);
        }
        await route.open(peer);
      };
      run().catch((error: unknown) => {
        if (!(error instanceof AppError)) {
          log.error({ err: error, path: route.path }, "a WebSocket could not be served");
        }
        peer.close(toClosing(error));
      });
    });
  }

  return {
    isOurs: (req) =>
      req.headers.upgrade?.toLowerCase() === "websocket" && findRoute(parts.routes(), req) !== undefined,
    async upgrade(req, socket, head) {
      const found = findRoute(parts.routes(), req);
      if (found === undefined) {
        throw new AppError("not_found", "Not found");
      }
      if (!found.route.isEnabled()) {
        throw new AppError("forbidden", "This feature is switched off.");
      }
      if (state.isStopping || open.size >= mostOpen) {
        throw new AppError("unavailable", "The server takes no new connections.");
      }
      const handshake = toHandshake(req, parts);
      server.options.maxPayload = found.route.maxFrameBytes;
      server.handleUpgrade(req, socket, head, (ws) => {
        const peer = new Peer(ws, found.params);
        serve({ ...handshake, peer, verifiedAt: Date.now(), isAlive: true }, found.route);
      });
    },
    close() {
      state.isStopping = true;
      clearInterval(checking);
      clearInterval(pinging);
      open.forEach(({ peer }) => peer.close(closing.stopping));
    },
    terminate: () => open.forEach(({ peer }) => peer.terminate()),
  };
}

/** Ends the connection of a caller who would be turned away by now. */
async function reauthorizeOne(
  one: Open,
  { open, authenticator }: { readonly open: ReadonlySet<Open>; readonly authenticator: Authenticator },
): Promise<void> {
  const { credential, peer } = one;
  if (credential === undefined) {
    return;
  }
  const outcome = await reauthorize(
    () => open.has(one),
    () => authenticator.authenticate(credential, { ...one.facts, isSilent: true }),
  );
  if (outcome instanceof AppError) {
    peer.close(toClosing(outcome));
  } else if (outcome !== undefined && !isMember(outcome)) {
    peer.close(closing.forbidden);
  } else if (outcome !== undefined) {
    one.verifiedAt = Date.now();
    peer.authorise(outcome);
  }
}

/** Resolves to the caller of a first frame: its token, or else what the request itself showed. */
async function signIn(one: Open, first: Peer["first"], authenticator: Authenticator): Promise<Principal> {
  const { token } = first;
  const shown: Credential | undefined =
    typeof token === "string" && token !== "" ? { value: token, source: "bearer" } : one.credential;
  if (first["type"] !== "auth" || shown === undefined) {
    throw new AppError("unauthenticated", "Not authenticated");
  }
  const caller = await authenticator.authenticate(shown, one.facts);
  if (!isMember(caller) || caller.viewer !== undefined) {
    throw new AppError("forbidden", "This account may not connect.");
  }
  one.credential = shown;
  return caller;
}

/** A cookie counts only from a page of this site; whoever shows nothing here shows a token in the first frame. */
function toHandshake(
  req: IncomingMessage,
  {
    clientAddress,
    origins,
    authenticator,
  }: Pick<SocketRoutesParts, "clientAddress" | "origins"> & {
    readonly authenticator: Authenticator;
  },
): Pick<Open, "facts" | "credential"> {
  const client = clientAddress(req.socket.remoteAddress ?? "", req.headers);
  const site = siteOf(req, client, origins());
  if (site === "refused") {
    throw new AppError("forbidden", "Connections from this site are not accepted.");
  }
  const credential = findCredential(req.headers, { keyHeader: authenticator.keyHeader() });
  const counts = credential?.source !== "cookie" || site === "trusted";
  const proxied = client.isProxied ? req.headers : undefined;
  const facts = { method: "GET", path: pathOf(req), address: client.address, proxied };
  return { facts, credential: counts ? credential : undefined };
}

function isDue({ verifiedAt, peer }: Open): boolean {
  const now = Date.now();
  return verifiedAt < now - verifyEveryMs || (peer.caller.session?.expiresAt ?? Infinity) * 1000 <= now;
}

/** A peer that did not answer the last sign of life is gone. */
function ping(one: Open): void {
  if (!one.isAlive) {
    one.peer.terminate();
    return;
  }
  one.isAlive = false;
  one.peer.ping();
}

function toFirst(frame: Buffer): Peer["first"] {
  try {
    const value: unknown = parseJson(frame.toString("utf8"));
    return typeof value === "object" && value !== null ? (value as Peer["first"]) : {};
  } catch {
    return {};
  }
}

const pathOf = ({ url = "/" }: IncomingMessage): string => url.split("?", 1)[0] as string;

function findRoute(
  routes: readonly SocketRoute[],
  req: IncomingMessage,
): { route: SocketRoute; params: Record<string, string> } | undefined {
  const given = pathOf(req).split("/");
  for (const route of routes) {
    const wanted = route.path.split("/");
    const params: Record<string, string> = {};
    const fits =
      wanted.length === given.length &&
      wanted.every((part, at) => {
        const value = given[at] as string;
        if (!part.startsWith(":")) {
          return part === value;
        }
        const decoded = decodeSegment(value);
        params[part.slice(1)] = decoded ?? "";
        return decoded !== undefined;
      });
    if (fits) {
      return { route, params };
    }
  }
  return undefined;
}

/** Undefined for a segment that means something else than a name: dots, separators, control characters. */
function decodeSegment(value: string): string | undefined {
  try {
    const decoded = decodeURIComponent(value);
    return /^(?:\.{1,2})?$|[/\\\p{Cc}]/u.test(decoded) ? undefined : decoded;
  } catch {
    return undefined;
  }
}
