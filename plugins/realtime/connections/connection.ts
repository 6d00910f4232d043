import type { Logger } from "#kernel/log.ts";
import type { Admission, Handshake } from "./admission.ts";
import { type Closing, closing } from "#kernel/sockets/closing.ts";
import type { Dispatch } from "./dispatch.ts";
import { createInbox, type Inbox } from "./inbox.ts";
import type { Members } from "./members.ts";
import type { Renewal } from "./renewal.ts";
import type { Session } from "./session.ts";

/** A WebSocket as protocols see it. */
export interface Wire {
  /** Sends one text frame; returns how many bytes wait to be sent. */
  send(frame: string | Buffer): number;
  waiting(): number;
  close(why: Closing): void;
  pause(): void;
  resume(): void;
}

/** A protocol's side of one WebSocket. */
export interface Connection {
  readonly session: Session;
  /** Takes one frame: a text, or bytes. */
  receive(frame: string | Buffer): void;
  closed(): void;
}

/** Dependencies of a protocol. */
export interface ProtocolParts {
  readonly admission: Admission;
  readonly dispatch: Dispatch;
  readonly members: Members;
  readonly renewal: Renewal;
  readonly log: Logger;
  readonly instanceId: string;
  /** Milliseconds between two signs of life, and how long one may take. */
  pingIntervalMs(): number;
  pingTimeoutMs(): number;
}

/** One accepted WebSocket. */
export interface Opening {
  readonly wire: Wire;
  readonly handshake: Handshake;
  /** The count of credential changes before the handshake was authenticated. */
  readonly changes: number;
}

export type Protocol = (parts: ProtocolParts, opening: Opening) => Connection;

/** Time for the first frame of a client that is not signed in. */
export const signInTimeoutMs = 10_000;

/**
 * Makes a session its principal's. What changed while the credential was judged was told before the session could
 * hear of it, so then it is judged again.
 */
export function bindPrincipal(
  session: Session,
  handshake: Handshake,
  { admission, renewal, changes }: { admission: Admission; renewal: Renewal; changes: number },
): Closing | undefined {
  const refused = admission.bindPrincipal(session, handshake);
  if (refused === undefined && renewal.changes !== changes) {
    void renewal.renew(session);
  }
  return refused;
}

/** Signs a session in with a token. Throws what the credential is refused with. */
export async function signIn(
  session: Session,
  token: string,
  { admission, renewal }: Pick<ProtocolParts, "admission" | "renewal">,
): Promise<void> {
  const { changes } = renewal;
  await admission.signIn(session, token);
  if (renewal.changes !== changes) {
    await renewal.renew(session);
  }
}

/** The queue of what a session's client asks for; a fault of ours ends the connection, so that it starts afresh. */
export function openInbox(session: Session, wire: Wire, { log }: Pick<ProtocolParts, "log">): Inbox {
  return createInbox({
    pause: () => wire.pause(),
    resume: () => wire.resume(),
    // Requests queued before a credential was revoked are dropped with it.
    isOver: () => !session.isOpen,
    whenWritable: () => session.whenWritable(),
    failed(error) {
      log.error({ err: error }, "a frame of a client could not be handled");
      session.end(closing.unavailable);
    },
  });
}
