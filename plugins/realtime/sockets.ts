import { z } from "zod";
import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import type { Slot } from "#kernel/service.ts";
import { defineSocketHandler, type SocketHandler, type SocketSession } from "#kernel/sockets/handler.ts";
import type { Hub } from "#kernel/sockets/hub.ts";
import { toRoom } from "#kernel/sockets/rooms.ts";
import type { RoomRenewal } from "./connections/room-renewal.ts";
import type { ChannelEvents, ReadMarks } from "./service.ts";
import type { Usage } from "./usage.ts";
import type { OpenQuestions } from "./user-events.ts";

export interface SocketParts {
  readonly hub: Hub;
  readonly usage: Usage;
  readonly questions: OpenQuestions;
  readonly rooms: Pick<RoomRenewal, "follow">;
  readonly channels: Slot<ChannelEvents>;
  readonly marks: Slot<ReadMarks>;
}

const Id = z.string().min(1).max(200);
const Read = z.object({ type: z.literal("last_read_at") });
const ChannelEvent = z.object({
  channel_id: Id,
  message_id: Id.nullish(),
  data: z.discriminatedUnion("type", [
    z.object({ type: z.literal("typing"), data: z.object({ typing: z.boolean() }).optional() }),
    Read,
  ]),
});
const ChatEvent = z.object({ chat_id: Id, data: Read });
const UsageEvent = z.object({ model: z.string().min(1).max(256) });

/** Handlers of the events that clients emit about themselves (contract 3.3). Tokens in them are handled before. */
export function createSocketHandlers({
  hub,
  usage,
  questions,
  rooms,
  channels,
  marks,
}: SocketParts): Record<string, SocketHandler> {
  const joinRooms = (caller: Principal, session: SocketSession) => rooms.follow(caller, session.id);
  const mark = async (kind: ReadMarks["kind"], caller: Principal, id: string) => {
    const kept = marks.list().filter((one) => one.kind === kind);
    await Promise.all(kept.map((one) => one.mark(caller, id)));
    return kept.length > 0;
  };
  return {
    "user-join": defineSocketHandler({ access: "public" }, async ({ caller, session }) => {
      if (caller === undefined) {
        throw new AppError("unauthenticated", "Not authenticated");
      }
      await joinRooms(caller, session);
      return { id: caller.userId, name: caller.name, session_id: session.id };
    }),
    "join-channels": defineSocketHandler({}, async ({ caller, session }) => {
      await joinRooms(caller, session);
      return true;
    }),
    // A page that was loaded again is asked what its chat waits for; questions belong to the person alone.
    "chat:questions": defineSocketHandler(
      { data: z.object({ chat_id: Id }) },
      async ({ caller, data, session }) => {
        await questions.askAgain({ userId: caller.userId, chatId: data.chat_id, sessionId: session.id });
        return true;
      },
    ),
    // Every frame counts as a sign of life; this one is for clients that have nothing else to say.
    heartbeat: defineSocketHandler({ access: "public" }, () => true),
    usage: defineSocketHandler({ data: UsageEvent }, ({ data, session }) =>
      usage.note(session.id, data.model),
    ),
    "events:channel": defineSocketHandler({ data: ChannelEvent }, async ({ caller, data, session }) => {
      if (data.data.type === "last_read_at") {
        return mark("channel", caller, data.channel_id);
      }
      const room = toRoom("channel", data.channel_id);
      if (!session.rooms.has(room)) {
        throw new AppError("not_found", "Not found");
      }
      await Promise.all(channels.list().map((one) => one.require(caller, data.channel_id)));
      const payload = {
        channel_id: data.channel_id,
        message_id: data.message_id ?? null,
        data: data.data,
        user: { id: caller.userId, name: caller.name, role: caller.role },
        channel: { id: data.channel_id },
      };
      hub.emit(room, "events:channel", payload, { except: session.id });
      return true;
    }),
    "events:chat": defineSocketHandler({ data: ChatEvent }, ({ caller, data }) =>
      mark("chat", caller, data.chat_id),
    ),
  };
}
