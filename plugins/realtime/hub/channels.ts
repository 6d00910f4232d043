import { randomUUID } from "node:crypto";
import { AppError } from "#kernel/errors.ts";
import type { Channel, ChannelEnds } from "#kernel/sockets/hub.ts";
import type { Session } from "../connections/session.ts";
import { type ChannelParts, createRemoteChannels, isOf, type Place } from "./remote-channels.ts";

/** The channels of this process, and the channels of other replicas to its sessions. */
export interface Channels {
  /** Opens a channel to a session on whichever replica that is. Throws `rate_limited` when it has too many. */
  open(to: Place, ends: ChannelEnds): Channel;
  /** Consumes an event of a session; false when it belongs to no channel of that session. */
  consume(session: Session, event: string, data: unknown): boolean;
  /** Backpressure: resolves when more can be consumed; undefined while nothing is in the way. */
  whenWritable(): Promise<void> | undefined;
}

/** Streams that one session may have open. */
const mostOfSession = 32;

/** Builds the channels of one process. */
export function createChannels(parts: ChannelParts): Channels {
  const { members, replicas } = parts;
  const open = new Map<string, Place & { readonly ends: ChannelEnds; holder?: string; taken: number }>();
  const remote = createRemoteChannels(parts);
  const end = (name: string) => {
    const channel = open.get(name);
    open.delete(name);
    channel?.ends.onGone();
  };
  const giveUp = (name: string) => {
    end(name);
    replicas.send("channel.close", [name]);
  };

  replicas.on("channel.held", (from, [name = ""]) => {
    const channel = open.get(name);
    if (channel) {
      channel.holder = from;
    }
  });
  replicas.on("channel.data", (_from, [name = "", to, number], json) => {
    const channel = open.get(name);
    if (channel && Number(number) === channel.taken + 1) {
      channel.taken += 1;
      channel.ends.onData(JSON.parse(json));
    } else if (to === replicas.id) {
      // A text was lost, or the channel is closed: the rest of the stream is useless.
      giveUp(name);
    }
  });
  replicas.on("channel.gone", (_from, [name = ""]) => end(name));
  replicas.onGone((id) =>
    [...open].filter(([, { holder }]) => holder === id).forEach(([name]) => giveUp(name)),
  );
  members.onRemoved((session) =>
    [...open].filter(([, place]) => place.sessionId === session.id).forEach(([name]) => end(name)),
  );

  return {
    open(to, ends) {
      if ([...open.values()].filter(({ sessionId }) => sessionId === to.sessionId).length >= mostOfSession) {
        throw new AppError("rate_limited", "Too many answers of this client are being read.");
      }
      const name = `${to.userId}:${to.sessionId}:${randomUUID()}`;
      const isHere = members.find(to.sessionId) !== undefined;
      open.set(name, { ...to, ends, taken: 0 });
      if (!isHere) {
        replicas.send("channel.open", [name, to.sessionId, to.userId]);
      }
      return {
        name,
        close() {
          if (open.delete(name) && !isHere) {
            replicas.send("channel.close", [name]);
          }
        },
      };
    },
    consume(session, event, data) {
      const channel = open.get(event);
      if (channel && isOf(session, channel)) {
        channel.ends.onData(data);
        return true;
      }
      return remote.consume(session, event, data);
    },
    whenWritable: () => replicas.whenWritable(),
  };
}
