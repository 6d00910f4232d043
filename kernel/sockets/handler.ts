import type { output, ZodType } from "zod";
import type { Principal } from "#kernel/access/principal.ts";

/** A connection as handlers see it. */
export interface SocketSession {
  /** The `session_id` of completions. */
  readonly id: string;
  readonly rooms: ReadonlySet<string>;
  /** Enters a room (`toRoom`); the handler has checked that the caller may. Throws `rate_limited`. */
  join(room: string): void;
  leave(room: string): void;
  /** Sends an event to this connection alone. */
  emit(event: string, payload: object): void;
}

/** Access to an event: every client, also before signing in, or accounts that may use the platform. */
export type SocketAccess = "public" | "user";

/** The argument of a handler. */
export interface SocketCall<D, A extends SocketAccess> {
  readonly caller: A extends "public" ? Principal | undefined : Principal;
  readonly data: D;
  readonly session: SocketSession;
}

/** The handler of one event that clients emit. */
export interface SocketHandler {
  readonly access: SocketAccess;
  readonly data: ZodType | undefined;
  handle(call: SocketCall<unknown, SocketAccess>): unknown;
}

/** A handler with the event's name and its plugin. */
export interface OwnedSocketHandler {
  readonly plugin: string;
  readonly event: string;
  readonly handler: SocketHandler;
  isEnabled(): boolean;
}

/**
 * Declares what happens when a client emits an event. `data` is a zod shape; `access` is `user` unless it says
 * otherwise. What `handle` returns is the acknowledgement; an AppError is acknowledged as `{error, code}`.
 */
export function defineSocketHandler<D extends ZodType = ZodType<unknown>, A extends SocketAccess = "user">(
  { data, access }: { readonly data?: D; readonly access?: A },
  handle: (call: SocketCall<output<D>, A>) => unknown,
): SocketHandler {
  return { access: access ?? "user", data, handle: handle as unknown as SocketHandler["handle"] };
}
