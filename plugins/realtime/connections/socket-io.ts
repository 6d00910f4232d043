import { decodePacket, encodePacket } from "engine.io-parser";
import { Decoder, Encoder, type Packet, PacketType } from "socket.io-parser";
import { toJson } from "#kernel/http/json.ts";
import { type Closing, closing, isFinal, toClosing } from "#kernel/sockets/closing.ts";
import {
  type Connection,
  openInbox,
  type Opening,
  signInTimeoutMs,
  type ProtocolParts,
  bindPrincipal,
  signIn,
  type Wire,
} from "./connection.ts";
import { toSocketIoAck, toSocketIoFrame } from "./outgoing.ts";
import { type Link, Session } from "./session.ts";

/** Largest frame that is read, in bytes; what clients of this protocol expect. */
export const maxFrameBytes = 1_000_000;

/**
 * Socket.IO v4 over a WebSocket at /ws/socket.io (contract 3.3). The token comes with the connect packet, later as
 * `auth: {token}` of an event, or with the request. Without a good one the client stays connected, in no room.
 */
export function openSocketIo(parts: ProtocolParts, { wire, handshake, changes }: Opening): Connection {
  const session = new Session(toLink(wire), handshake.facts);
  const inbox = openInbox(session, wire, parts);
  const decoder = new Decoder();
  const life = keepAlive(parts, {
    ping: () => sendEngine(wire, "ping"),
    silent: () => session.end(closing.silent),
  });
  const signInTimer = setTimeout(() => session.end(closing.malformed), signInTimeoutMs).unref();
  let state: "new" | "connecting" | "connected" = "new";
  parts.members.add(session);

  const connect = async (auth: unknown) => {
    const refused = await admit(session, auth, { ...parts, handshake, changes });
    // A bad token does not disconnect: signing in may follow. A temporary refusal does, so that the client retries.
    if (refused !== undefined && !isFinal(refused)) {
      session.end(refused);
    }
    if (session.isOpen) {
      sendPacket(wire, { type: PacketType.CONNECT, nsp: "/", data: { sid: session.id } });
      state = "connected";
    }
  };
  const emit = async ({ data, id }: Packet) => {
    const [event, payload] = data as [unknown, unknown];
    const answer = await parts.dispatch(session, String(event), payload);
    if (id !== undefined) {
      session.acknowledge(toSocketIoAck(id, toJson(answer ?? null)));
    }
  };
  const take = (packet: Packet) => {
    const { type, nsp } = packet;
    if (type === PacketType.CONNECT && nsp !== "/") {
      sendPacket(wire, { type: PacketType.CONNECT_ERROR, nsp, data: { message: "Invalid namespace" } });
    } else if (type === PacketType.CONNECT && state === "new") {
      clearTimeout(signInTimer);
      state = "connecting";
      inbox.add(() => connect(packet.data));
    } else if (type === PacketType.DISCONNECT || type === PacketType.CONNECT) {
      session.end(closing.left);
    } else if (nsp !== "/" || state === "new") {
      session.end(closing.malformed);
    } else if (!Array.isArray(packet.data)) {
      session.end(closing.malformed);
    } else if (type === PacketType.EVENT || type === PacketType.BINARY_EVENT) {
      inbox.add(() => emit(packet));
    } else if (packet.id !== undefined) {
      // Not in the queue: a handler that waits for this answer stands at its head.
      session.answer(packet.id, (packet.data as unknown[])[0]);
    }
  };
  decoder.on("decoded", take);

  greet(parts, wire, session.id);
  return {
    session,
    receive(frame) {
      try {
        const { type, data } = decodePacket(frame, "nodebuffer");
        if (type === "message") {
          session.heardAt = Date.now();
          decoder.add(data);
        } else if (type === "pong") {
          life.pong();
        } else if (type !== "noop") {
          session.end(closing.malformed);
        }
      } catch {
        session.end(closing.malformed);
      }
    },
    closed() {
      clearTimeout(signInTimer);
      life.stop();
      decoder.destroy();
    },
  };
}

/** Signs in with the token of the connect packet, else with the handshake. Returns the reason of a refusal. */
async function admit(
  session: Session,
  auth: unknown,
  { handshake, ...parts }: ProtocolParts & Omit<Opening, "wire">,
): Promise<Closing | undefined> {
  const token = (auth as { token?: unknown } | null | undefined)?.token;
  if (typeof token === "string" && token !== "") {
    return await signIn(session, token, parts).then(() => undefined, toClosing);
  }
  return handshake.principal && bindPrincipal(session, handshake, parts);
}

function greet({ pingIntervalMs, pingTimeoutMs }: ProtocolParts, wire: Wire, sid: string): void {
  sendEngine(wire, "open", {
    sid,
    upgrades: [],
    pingInterval: pingIntervalMs(),
    pingTimeout: pingTimeoutMs(),
    maxPayload: maxFrameBytes,
  });
}

function toLink(wire: Wire): Link {
  return {
    transport: "socket.io",
    toFrame: (event) => event.socketIo,
    toQuestion: (id, event, json) => toSocketIoFrame(event, json, id),
    send: (frame) => wire.send(frame),
    waiting: () => wire.waiting(),
    close(why) {
      // Clients come back by themselves after a broken connection, but not after being told to go.
      if (isFinal(why)) {
        sendPacket(wire, { type: PacketType.DISCONNECT, nsp: "/" });
      }
      wire.close(why);
    },
  };
}

/** Engine.IO: the server asks for signs of life. */
function keepAlive(
  { pingIntervalMs, pingTimeoutMs }: ProtocolParts,
  { ping, silent }: { ping(): void; silent(): void },
) {
  let timer: NodeJS.Timeout;
  const rest = () => {
    timer = setTimeout(() => {
      ping();
      timer = setTimeout(silent, pingTimeoutMs()).unref();
    }, pingIntervalMs()).unref();
  };
  rest();
  return {
    pong() {
      clearTimeout(timer);
      rest();
    },
    stop: () => clearTimeout(timer),
  };
}

function sendEngine(wire: Wire, type: "open" | "ping", data?: object): void {
  encodePacket(
    { type, ...(data && { data: JSON.stringify(data) }) },
    true,
    (encoded) => void wire.send(encoded),
  );
}

const encoder = new Encoder();

function sendPacket(wire: Wire, packet: Packet): void {
  for (const piece of encoder.encode(packet)) {
    encodePacket({ type: "message", data: piece }, true, (encoded) => void wire.send(encoded));
  }
}
