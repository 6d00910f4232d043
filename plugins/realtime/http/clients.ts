import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import { findCredential } from "#kernel/http/credential.ts";
import { toJson } from "#kernel/http/json.ts";
import type { RequestInfo } from "#kernel/http/route.ts";
import { closing } from "#kernel/sockets/closing.ts";
import type { Hub } from "#kernel/sockets/hub.ts";
import type { ProtocolParts } from "../connections/connection.ts";
import { openPlain } from "../connections/plain.ts";
import { HttpClient } from "./client.ts";

/** What the listener gives once it opens. */
export interface ClientParts extends ProtocolParts {
  keyHeader(): string;
}

export interface Caller {
  readonly caller: Principal;
  readonly request: RequestInfo;
}

/** Where a client goes on: its session, and the last frame that it has. */
export interface Place {
  readonly sessionId: string | undefined;
  readonly after: number;
}

/** Clients whose events go over HTTP: the same sessions, rooms and rights as those of WebSockets. */
export interface HttpClients {
  /** Called once the listener opens; until then clients are refused. */
  open(parts: ClientParts): void;
  /** The client at its place, or a new one where the server does not know it. */
  join(caller: Caller, place: Place): { readonly client: HttpClient; readonly isNew: boolean };
  /** Takes frames of a client, on whichever replica its session is. Throws `not_found` for one that is nowhere. */
  receive(caller: Principal, sessionId: string, frames: readonly unknown[]): Promise<void>;
  close(): void;
}

/** Topic of frames whose client another replica has. */
const topic = "realtime.http-frames";

interface SentFrames {
  readonly sessionId: string;
  readonly userId: string;
  readonly frames: readonly unknown[];
}

export function createHttpClients(hub: Pick<Hub, "contribute" | "find">): HttpClients {
  const clients = new Map<string, HttpClient>();
  let parts: ClientParts | undefined;
  let isStopping = false;

  const find = (sessionId: string | undefined, userId: string): HttpClient | undefined => {
    const client = clients.get(sessionId ?? "");
    return client?.connection?.session.principal?.userId === userId ? client : undefined;
  };

  function begin({ caller, request }: Caller): HttpClient {
    if (parts === undefined || isStopping) {
      throw new AppError("unavailable", "The server takes no new connections.", { retryAfter: 1 });
    }
    const { members } = parts;
    const client: HttpClient = new HttpClient(() => {
      const session = client.connection?.session;
      client.connection?.closed();
      if (session) {
        clients.delete(session.id);
        session.closed();
        members.remove(session);
      }
    });
    const { headers, address, isProxied, url } = request;
    const path = url.split("?", 1)[0] as string;
    const facts = { method: "GET", path, address, proxied: isProxied ? headers : undefined };
    const credential = findCredential(headers, { keyHeader: parts.keyHeader() });
    const handshake = { facts, credential, principal: caller };
    // A change of the credential that was told before this session could hear of it must count: it is judged once more.
    const connection = openPlain(parts, { wire: client.wire, handshake, changes: -1 });
    if (client.isClosed) {
      connection.closed();
      members.remove(connection.session);
      throw new AppError("rate_limited", closing.crowded.reason);
    }
    client.connection = connection;
    clients.set(client.sessionId, client);
    return client;
  }

  hub.contribute(topic, (question) => {
    const { sessionId, userId, frames } = question as SentFrames;
    const client = find(sessionId, userId);
    void client?.receive(frames.map((frame) => toJson(frame)));
    return client ? true : undefined;
  });

  return {
    open(given) {
      parts = given;
    },
    join(caller, { sessionId, after }) {
      if (caller.caller.viewer !== undefined) {
        throw new AppError("forbidden", closing.forbidden.reason);
      }
      const known = find(sessionId, caller.caller.userId);
      return known?.has(after) ? { client: known, isNew: false } : { client: begin(caller), isNew: true };
    },
    async receive({ userId }, sessionId, frames) {
      const client = find(sessionId, userId);
      if (client) {
        await client.receive(frames.map((frame) => toJson(frame)));
      } else if ((await hub.find(topic, { sessionId, userId, frames })) !== true) {
        throw new AppError("not_found", "Client session disconnected.");
      }
    },
    close() {
      isStopping = true;
      clients.forEach(({ connection }) => connection?.session.end(closing.stopping));
    },
  };
}
