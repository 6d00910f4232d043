import { randomUUID } from "node:crypto";
import { AppError } from "#kernel/errors.ts";
import { toJson } from "#kernel/http/json.ts";
import type { Channel, ChannelEnds } from "#kernel/sockets/hub.ts";
import type { Members } from "../connections/members.ts";
import type { Replicas } from "../replicas/replicas.ts";
import type { Session } from "../connections/session.ts";

type Place = { readonly userId: string; readonly sessionId: string };

/** The channels of this process, and those of other replicas that its sessions stream to. */
export interface Channels {
  /** Opens a channel to a session on whichever replica that is. Throws `rate_limited` when it has too many. */
  open(to: Place, ends: ChannelEnds): Channel;
  /** Hands on an event of a session; false when it is of no channel of that session. */
  take(session: Session, event: string, data: unknown): boolean;
  /** What to wait for before more is taken; undefined while nothing is in the way. */
  eased(): Promise<void> | undefined;
}

/** Nobody reads more answers at a time. */
const mostOfSession = 32;

interface ChannelParts {
  readonly members: Members;
  readonly replicas: Replicas;
}

const isOf = (session: Session, { sessionId, userId }: Place) =>
  session.id === sessionId && session.principal?.userId === userId;

/** Builds the channels of one process. */
export function createChannels(parts: ChannelParts): Channels {
  const { members, replicas } = parts;
  const open = new Map<string, Place & { readonly ends: ChannelEnds; holder?: string; taken: number }>();
  const lent = createLent(parts);
  const end = (name: string) => {
    const channel = open.get(name);
    open.delete(name);
    channel?.ends.gone();
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
      channel.ends.take(JSON.parse(json));
    } else if (to === replicas.id) {
      // Something was lost on the way, or nobody listens any more: the rest of an answer is none.
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
    take(session, event, data) {
      const channel = open.get(event);
      if (channel && isOf(session, channel)) {
        channel.ends.take(data);
        return true;
      }
      return lent.take(session, event, data);
    },
    eased: () => replicas.eased(),
  };
}

/** Channels of other replicas to sessions of this one: what comes over them is handed on, numbered from 1. */
function createLent({ members, replicas }: ChannelParts): Pick<Channels, "take"> {
  const lent = new Map<string, Place & { readonly to: string; sent: number }>();

  replicas.on("channel.open", (from, [name = "", sessionId = "", userId = ""]) => {
    const session = members.find(sessionId);
    if (session && isOf(session, { sessionId, userId })) {
      lent.set(name, { sessionId, userId, to: from, sent: 0 });
      replicas.send("channel.held", [name]);
    }
  });
  replicas.on("channel.close", (_from, [name = ""]) => void lent.delete(name));
  replicas.onGone((id) => [...lent].filter(([, { to }]) => to === id).forEach(([name]) => lent.delete(name)));
  members.onRemoved((session) => {
    for (const [name, { sessionId }] of lent) {
      if (sessionId === session.id) {
        lent.delete(name);
        replicas.send("channel.gone", [name]);
      }
    }
  });

  return {
    take(session, event, data) {
      const away = lent.get(event);
      if (away === undefined || !isOf(session, away)) {
        return false;
      }
      away.sent += 1;
      replicas.send("channel.data", [event, away.to, String(away.sent)], toJson(data ?? null));
      return true;
    },
  };
}
