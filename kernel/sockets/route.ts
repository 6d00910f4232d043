import type { Principal } from "#kernel/access/principal.ts";
import { defineSlot } from "#kernel/service.ts";
import type { Closing } from "./closing.ts";

/** A WebSocket that a plugin serves at an address of its own, beside the socket of events. */
export interface SocketRoute {
  /** Path below the root, with `:name` for a segment. */
  readonly path: `/${string}`;
  /** Largest frame that a client may send. */
  readonly maxFrameBytes: number;
  /** False refuses new connections with 403. */
  isEnabled(): boolean;
  /** Takes a connection over once its caller is known; a rejection with an AppError ends it. */
  open(peer: SocketPeer): Promise<void>;
}

/** One connection of a `SocketRoute`. */
export interface SocketPeer {
  /** The named segments, decoded. */
  readonly params: Readonly<Record<string, string>>;
  /** The first frame: `{"type":"auth","token":…}` with what else the client put into it. */
  readonly first: Readonly<Record<string, unknown>>;
  /** As last authorised. */
  readonly caller: Principal;
  /** Aborted when the connection has ended. */
  readonly signal: AbortSignal;
  /** Frames of the client after the first one; those that came earlier are handed over at once. */
  onFrame(handle: (frame: Buffer, isBinary: boolean) => void): void;
  /** Runs whenever the caller was authorised anew, after a change of the account, its groups or its permissions. */
  onRenewed(handle: () => void): void;
  /** Sends one frame; returns how many bytes wait to be sent. */
  send(frame: Buffer | string, isBinary: boolean): number;
  /** Resolves once everything sent has left. */
  drained(): Promise<void>;
  pause(): void;
  resume(): void;
  close(why: Closing | { readonly code: number; readonly reason: string }): void;
}

/** WebSockets at addresses of their own. */
export const socketRoutes = defineSlot<SocketRoute>("kernel.socket-routes");
