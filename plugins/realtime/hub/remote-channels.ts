import { toJson } from "#kernel/http/json.ts";
import type { Members } from "../connections/members.ts";
import type { Session } from "../connections/session.ts";
import type { Replicas } from "../replicas/replicas.ts";

/** The session that a channel belongs to. */
export interface Place {
  readonly userId: string;
  readonly sessionId: string;
}

export interface ChannelParts {
  readonly members: Members;
  readonly replicas: Replicas;
}

export function isOf(session: Session, { sessionId, userId }: Place): boolean {
  return session.id === sessionId && session.principal?.userId === userId;
}

export interface RemoteChannels {
  /** Forwards an event of a session to the replica whose channel it belongs to; false when there is none. */
  consume(session: Session, event: string, data: unknown): boolean;
}

/** Channels of other replicas to sessions of this one: events are forwarded, numbered from 1. */
export function createRemoteChannels({ members, replicas }: ChannelParts): RemoteChannels {
  const remote = new Map<string, Place & { readonly to: string; sent: number }>();

  replicas.on("channel.open", (from, [name = "", sessionId = "", userId = ""]) => {
    const session = members.find(sessionId);
    if (session && isOf(session, { sessionId, userId })) {
      remote.set(name, { sessionId, userId, to: from, sent: 0 });
      replicas.send("channel.held", [name]);
    }
  });
  replicas.on("channel.close", (_from, [name = ""]) => void remote.delete(name));
  replicas.onGone((id) =>
    [...remote].filter(([, { to }]) => to === id).forEach(([name]) => remote.delete(name)),
  );
  members.onRemoved((session) => {
    for (const [name, { sessionId }] of remote) {
      if (sessionId === session.id) {
        remote.delete(name);
        replicas.send("channel.gone", [name]);
      }
    }
  });

  return {
    consume(session, event, data) {
      const away = remote.get(event);
      if (away === undefined || !isOf(session, away)) {
        return false;
      }
      away.sent += 1;
      replicas.send("channel.data", [event, away.to, String(away.sent)], toJson(data ?? null));
      return true;
    },
  };
}
