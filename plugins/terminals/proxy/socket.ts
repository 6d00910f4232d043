import type { WebSocket } from "ws";
import type { Egress } from "#kernel/egress/egress.ts";
import { AppError } from "#kernel/errors.ts";
import type { Events } from "#kernel/events.ts";
import type { SocketPeer, SocketRoute } from "#kernel/sockets/route.ts";
import { requirePlace, type Terminals } from "../connections/terminals.ts";
import { proxyBase, toAddress } from "./address.ts";
import { toIdentityHeaders } from "./identity.ts";
import type { Sessions } from "./sessions.ts";
import type { Watch } from "./watch.ts";

export interface SocketParts {
  readonly terminals: Terminals;
  readonly sessions: Sessions;
  readonly egress: Egress;
  readonly watch: Watch;
  readonly events: Pick<Events, "announce">;
  isEnabled(): boolean;
}

const closing = {
  unavailable: { code: 4003, reason: "The terminal is not available" },
  missing: { code: 4004, reason: "Session not found" },
  unreachable: { code: 1011, reason: "The terminal server cannot be reached" },
  refused: { code: 1011, reason: "The terminal server refused the platform" },
} as const;

/** Bytes that wait on one side until the other is told to pause: a flood of output must not fill the memory. */
const mostWaiting = 1024 * 1024;

/**
 * A person's connection to a session on a terminal server (contract §5.3). The caller's token stays here; the server
 * gets the connection's key and who it is for.
 */
export function terminalSocket(parts: SocketParts): SocketRoute {
  const { terminals, sessions, egress, watch } = parts;
  return {
    path: `${proxyBase as "/api/v1/terminals/"}:id/api/terminals/:session_id`,
    maxFrameBytes: mostWaiting,
    isEnabled: () => parts.isEnabled(),
    async open(peer) {
      const { id = "", session_id: sessionId = "" } = peer.params;
      const session = await sessions.find(id, sessionId, peer.caller.userId);
      try {
        const terminal = terminals.require(peer.caller, id);
        if (session === undefined) {
          peer.close(closing.missing);
          return;
        }
        requirePlace(terminal, session);
        const { chatId } = session;
        const upstream = await egress.webSocket(
          toAddress(terminal, `api/terminals/${encodeURIComponent(sessionId)}`),
          {
            trust: "operator",
            headers: await toIdentityHeaders(terminal, { principal: peer.caller, sessionId: chatId }),
            maxBytes: 16 * mostWaiting,
            timeoutMs: 10_000,
            signal: peer.signal,
          },
        );
        upstream.send(
          JSON.stringify({ type: "auth", token: terminal.key, ...(chatId && { chat_id: chatId }) }),
        );
        const use = { terminalId: id, caller: () => peer.caller, end: () => peer.close(closing.unavailable) };
        const forget = watch.add(use);
        peer.signal.addEventListener("abort", forget, { once: true });
        peer.onRenewed(() => watch.check(use));
        connect(peer, upstream);
        announce(parts, peer, { terminalId: id, sessionId, chatId });
        // What changed while the connection was made was announced before it was watched.
        watch.check(use);
      } catch (error) {
        peer.signal.throwIfAborted();
        peer.close(toClosing(error));
      }
    },
  };
}

/** Tells of the connection, and of its end whichever side brings it about (appendix A10). */
function announce(
  { events }: Pick<SocketParts, "events">,
  peer: SocketPeer,
  { terminalId, sessionId, chatId }: { terminalId: string; sessionId: string; chatId: string | undefined },
): void {
  const { userId: id, name, email, role } = peer.caller;
  const facts = {
    actor: { id, name, email, role },
    subject: { type: "terminal_session", id: sessionId },
    data: { terminal_id: terminalId, chat_id: chatId ?? null },
  };
  events.announce("terminal.session.opened", facts);
  peer.signal.addEventListener("abort", () => events.announce("terminal.session.closed", facts), {
    once: true,
  });
}

function toClosing(error: unknown) {
  const code = error instanceof AppError ? error.code : undefined;
  return code === "unavailable" ? closing.unavailable : closing.unreachable;
}

/** Carries frames both ways; whichever side takes less than comes makes the other pause. */
function connect(peer: SocketPeer, upstream: WebSocket): void {
  upstream.on("message", (data, isBinary) => {
    if (peer.send(data as Buffer, isBinary) > mostWaiting) {
      upstream.pause();
      void peer.drained().then(() => upstream.resume());
    }
  });
  upstream.once("close", (code, reason) => peer.close(toPeerClosing(code, String(reason))));
  peer.signal.addEventListener("abort", () => endUpstream(upstream), { once: true });
  peer.onFrame((frame, isBinary) => {
    if (upstream.readyState !== upstream.OPEN) {
      return;
    }
    upstream.send(frame, { binary: isBinary, compress: false }, () => {
      if (upstream.bufferedAmount <= mostWaiting) {
        peer.resume();
      }
    });
    if (upstream.bufferedAmount > mostWaiting) {
      peer.pause();
    }
  });
  upstream.resume();
}

function endUpstream(upstream: WebSocket): void {
  upstream.close();
  setTimeout(() => upstream.terminate(), 1_000).unref();
}

/** To clients, 4001 means that they have to sign in again; here it is the platform whose key was refused. */
function toPeerClosing(code: number, reason: string) {
  if (code === 4001) {
    return closing.refused;
  }
  const isPassedOn = code === 1000 || (code >= 4000 && code < 5000);
  return isPassedOn
    ? { code, reason }
    : { code: 1011, reason: reason || "The terminal server ended the connection" };
}
