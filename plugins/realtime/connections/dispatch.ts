import type { ZodType } from "zod";
import { isMember } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import type { Logger } from "#kernel/log.ts";
import type { Channels } from "../hub/channels.ts";
import { closing } from "#kernel/sockets/closing.ts";
import { OutgoingEvent, toPayload } from "./outgoing.ts";
import type { OwnedSocketHandler, SocketSession } from "#kernel/sockets/handler.ts";
import type { Members } from "./members.ts";
import type { Session } from "./session.ts";

export interface DispatchParts {
  readonly handlers: readonly OwnedSocketHandler[];
  readonly members: Members;
  readonly channels: Pick<Channels, "consume" | "whenWritable">;
  readonly instanceId: string;
  readonly log: Logger;
  /** Signs a session in with a token that came in an event. Throws `unauthenticated` or `forbidden`. */
  signIn(session: Session, token: string): Promise<void>;
}

/** Events of apps, whose keys are good for channels alone. */
const appEvents: ReadonlySet<string> = new Set(["user-join", "join-channels", "heartbeat", "events:channel"]);

/** Hands one event of a client to its handler and resolves with the acknowledgement; never rejects. */
export type Dispatch = (session: Session, event: string, data: unknown) => Promise<unknown>;

export function createDispatch(parts: DispatchParts): Dispatch {
  const { handlers, log, signIn } = parts;
  const byEvent = new Map(handlers.map((owned) => [owned.event, owned]));

  async function run(session: Session, event: string, data: unknown): Promise<unknown> {
    const token = tokenOf(data);
    // Contract 3.3: several events bring a credential along, and a refreshed one replaces the old.
    if (token !== undefined && token !== session.credential?.value) {
      await signIn(session, token);
    }
    if (!session.isOpen) {
      // The session ended while its credential was authenticated.
      return undefined;
    }
    const owned = byEvent.get(event);
    const caller = session.principal;
    if (owned?.handler.access !== "public" && (caller === undefined || !isMember(caller))) {
      // Security case S43: only signed-in clients may emit.
      session.end(closing.unauthenticated);
      return undefined;
    }
    if (caller?.app !== undefined && !appEvents.has(event)) {
      throw new AppError("forbidden", "Apps may not emit this event.");
    }
    if (owned === undefined && parts.channels.consume(session, event, data)) {
      // Backpressure: the session is not read while its stream cannot be forwarded.
      await parts.channels.whenWritable();
      return undefined;
    }
    if (owned === undefined) {
      throw new AppError("not_found", `There is no event ${JSON.stringify(event.slice(0, 100))}.`);
    }
    if (!owned.isEnabled()) {
      throw new AppError("forbidden", "This feature is switched off.");
    }
    const { handler } = owned;
    return await handler.handle({
      caller: caller as never,
      data: handler.data === undefined ? data : parse(handler.data, data),
      session: toSocketSession(session, parts),
    });
  }

  return async (session, event, data) => {
    try {
      return await run(session, event, data);
    } catch (error) {
      if (error instanceof AppError) {
        return { error: typeof error.detail === "string" ? error.detail : error.message, code: error.code };
      }
      log.error({ err: error, event }, "a socket handler failed");
      return { error: "The server could not do this.", code: "unavailable" };
    }
  };
}

function tokenOf(data: unknown): string | undefined {
  const token = (data as { auth?: { token?: unknown } | null } | null | undefined)?.auth?.token;
  return typeof token === "string" && token !== "" ? token : undefined;
}

function parse(shape: ZodType, data: unknown): unknown {
  // An event without data is one with empty data.
  const parsed = shape.safeParse(data ?? {});
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new AppError("unprocessable", `${issue?.path.join(".") || "data"}: ${issue?.message}`);
  }
  return parsed.data;
}

function toSocketSession(
  session: Session,
  { members, instanceId }: Pick<DispatchParts, "members" | "instanceId">,
): SocketSession {
  return {
    id: session.id,
    rooms: session.rooms,
    join: (room) => members.enter(session, room),
    leave: (room) => members.leave(session, room),
    emit: (event, payload) => session.deliver(new OutgoingEvent(event, toPayload(payload, instanceId))),
  };
}
