import { toJson, parseJson } from "#kernel/http/json.ts";
import { closing, toClosing } from "#kernel/sockets/closing.ts";
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
import { toPayload, toPlainFrame } from "./outgoing.ts";
import { type Link, Session } from "./session.ts";

interface Frame {
  readonly type?: unknown;
  readonly id?: unknown;
  readonly token?: unknown;
  readonly event?: unknown;
  readonly data?: unknown;
}

/**
 * The plain protocol at /ws (contract D.17a). The client sends `{"type":"auth","token"}` unless the request carried a
 * credential, then `{"type":"emit","event","id"?,"data"}`; the server sends `{"type":"event","event","data"}` and
 * answers an emit that has an id with `{"type":"ack","id","data"}`. An event with an id wants a
 * `{"type":"ack","id","data"}` from the client. The first event, `session`, tells `{session_id, id, name}`.
 */
export function openPlain(parts: ProtocolParts, { wire, handshake, changes }: Opening): Connection {
  const session = new Session(toLink(wire), handshake.facts);
  const inbox = openInbox(session, wire, parts);
  parts.members.add(session);

  const greet = () => {
    const { userId: id, name } = session.principal ?? {};
    const payload = { session_id: session.id, id, name };
    wire.send(toPlainFrame("session", toPayload(payload, parts.instanceId)));
  };
  const acknowledge = (id: unknown, data: unknown) => {
    if (id !== undefined) {
      session.acknowledge(toJson({ type: "ack", id, data: data ?? null }));
    }
  };
  const authenticate = async ({ token, id }: Frame) => {
    const isNew = session.principal === undefined;
    try {
      await signIn(session, typeof token === "string" ? token : "", parts);
    } catch (error) {
      session.end(toClosing(error));
      return;
    }
    clearTimeout(signInTimer);
    acknowledge(id, { id: session.principal?.userId, name: session.principal?.name });
    if (isNew) {
      greet();
    }
  };
  const take = (frame: Frame): void => {
    if (frame.type === "auth") {
      inbox.add(() => authenticate(frame));
    } else if (frame.type === "emit" && typeof frame.event === "string") {
      const { event } = frame;
      inbox.add(async () => {
        if (session.principal === undefined) {
          session.end(closing.unauthenticated);
          return;
        }
        acknowledge(frame.id, await parts.dispatch(session, event, frame.data));
      });
    } else if (frame.type === "ack" && typeof frame.id === "number") {
      // Not in the queue: a handler that waits for this answer stands at its head.
      session.answer(frame.id, frame.data);
    } else {
      session.end(closing.malformed);
    }
  };

  const signInTimer = setTimeout(() => session.end(closing.unauthenticated), signInTimeoutMs).unref();
  if (handshake.principal !== undefined) {
    clearTimeout(signInTimer);
    const refused = bindPrincipal(session, handshake, { ...parts, changes });
    if (refused === undefined) {
      greet();
    } else {
      session.end(refused);
    }
  }
  return {
    session,
    receive(frame) {
      session.heardAt = Date.now();
      const read = typeof frame === "string" ? readFrame(frame) : undefined;
      if (read === undefined) {
        session.end(closing.malformed);
      } else {
        take(read);
      }
    },
    closed: () => clearTimeout(signInTimer),
  };
}

function toLink(wire: Wire): Link {
  return {
    transport: "plain",
    toFrame: (event) => event.plain,
    toQuestion: (id, event, json) => toPlainFrame(event, json, id),
    send: (frame) => wire.send(frame),
    waiting: () => wire.waiting(),
    close: (why) => wire.close(why),
  };
}

function readFrame(text: string): Frame | undefined {
  try {
    const frame = parseJson(text);
    return typeof frame === "object" && frame !== null ? frame : undefined;
  } catch {
    return undefined;
  }
}
