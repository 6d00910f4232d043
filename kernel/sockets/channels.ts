import { randomUUID } from "node:crypto";
import { toJson } from "#kernel/http/json.ts";
import type { Members } from "./members.ts";
import type { Replicas } from "./replicas.ts";
import type { Session } from "./session.ts";

/** What comes over a channel. */
export interface ChannelEnds {
  /** One event of the client, as it sent it. */
  take(data: unknown): void;
  /** The session has ended, or the replica that held it; nothing comes any more. */
  gone(): void;
}

/** A way for one session to stream to the server: an event of a name that was made for it alone. */
export interface Channel {
  /** The event that the client emits. */
  readonly name: string;
  close(): void;
}

type Place = { readonly userId: string; readonly sessionId: string };

/** The channels of this process, and those of other replicas that its sessions stream to. */
export interface Channels {
  /** Opens a channel to a session on whichever replica that is. */
  open(to: Place, ends: ChannelEnds): Channel;
  /** Hands on an event of a session; false when it is of no channel of that session. */
  take(session: Session, event: string, data: unknown): boolean;
}

/** Builds the channels of one process. */
export function createChannels({ members, replicas }: { members: Members; replicas: Replicas }): Channels {
  const open = new Map<string, Place & { readonly ends: ChannelEnds; holder?: string }>();
  /** By name: sessions of this replica, and the replica that listens to them. */
  const lent = new Map<string, Place & { readonly to: string }>();
  const end = (name: string) => {
    const channel = open.get(name);
    open.delete(name);
    channel?.ends.gone();
  };
  const isOf = (session: Session, { sessionId, userId }: Place) =>
    session.id === sessionId && session.principal?.userId === userId;

  replicas.on("channel.open", (from, [name = "", sessionId = "", userId = ""]) => {
    const session = members.find(sessionId);
    if (session && isOf(session, { sessionId, userId })) {
      lent.set(name, { sessionId, userId, to: from });
      replicas.send("channel.held", [name]);
    }
  });
  replicas.on("channel.held", (from, [name = ""]) => {
    const channel = open.get(name);
    if (channel) {
      channel.holder = from;
    }
  });
  replicas.on("channel.data", (_from, [name = ""], json) => open.get(name)?.ends.take(JSON.parse(json)));
  replicas.on("channel.gone", (_from, [name = ""]) => end(name));
  replicas.on("channel.close", (_from, [name = ""]) => void lent.delete(name));
  replicas.onGone((id) => {
    [...open].filter(([, { holder }]) => holder === id).forEach(([name]) => end(name));
    [...lent].filter(([, { to }]) => to === id).forEach(([name]) => lent.delete(name));
  });
  members.onRemoved((session) => {
    [...open].filter(([, place]) => place.sessionId === session.id).forEach(([name]) => end(name));
    for (const [name, { sessionId }] of lent) {
      if (sessionId === session.id) {
        lent.delete(name);
        replicas.send("channel.gone", [name]);
      }
    }
  });

  return {
    open(to, ends) {
      const name = `${to.userId}:${to.sessionId}:${randomUUID()}`;
      const isHere = members.find(to.sessionId) !== undefined;
      open.set(name, { ...to, ends });
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
    take(session, event, data) {
      const channel = open.get(event);
      if (channel && isOf(session, channel)) {
        channel.ends.take(data);
        return true;
      }
      const away = lent.get(event);
      if (away && isOf(session, away)) {
        replicas.send("channel.data", [event], toJson(data ?? null));
        return true;
      }
      return false;
    },
  };
}
