import { AppError } from "#kernel/errors.ts";
import { toJson } from "#kernel/http/json.ts";
import { type AskOptions, createAsking, type HubParts, type Question } from "./asking.ts";
import { OutgoingEvent, toPayload } from "./envelope.ts";
import type { Channel, ChannelEnds } from "./channels.ts";
import type { Replicas } from "./replicas.ts";

export type { AskOptions, Question } from "./asking.ts";
export type { Channel, ChannelEnds } from "./channels.ts";

/** The way from the server to clients that keep a connection open, on whichever replica that is. */
export interface Hub {
  /**
   * Sends an event to every session in `room` (`toRoom`); what one caller emits arrives in that order. `instance_id` is
   * added to the payload. `except` names a session that is left out, such as the one it came from.
   */
  emit(room: string, event: string, payload: object, options?: { except?: string }): void;
  /** False when certainly no session is in `room`, so that what would be emitted need not be made. */
  isHeard(room: string): boolean;
  /**
   * Asks one session and resolves with its answer. Rejects with `unavailable` when it is no open session of that user,
   * with `timeout` when no answer comes in time, and with the signal's reason when that aborts.
   */
  ask(question: Question, options?: AskOptions): Promise<unknown>;
  /** Opens a way for one session to stream to the server; the question that asks for it tells the channel's name. */
  channel(to: { readonly userId: string; readonly sessionId: string }, ends: ChannelEnds): Channel;
  /** Brings every session of a user into a room, or out of it. Whoever calls has checked that the user may. */
  join(userId: string, room: string): void;
  leave(userId: string, room: string): void;
  /** Whether a user has an open session on this replica. */
  isHere(userId: string): boolean;
  /** Ids of the users whose clients on this replica gave a sign of life lately (contract 3.3). */
  activeUsers(): string[];
  /** Says what this replica answers when one collects `topic`, or asks who knows about a question. */
  contribute(topic: string, answer: (question: unknown) => unknown): void;
  /** The answers of all replicas that answer within a second, this one's first. */
  collect(topic: string): Promise<unknown[]>;
  /** The first answer of any replica that is not null; undefined when none knows within a second. */
  find(topic: string, question: unknown): Promise<unknown>;
}

/** A client that sent nothing for this long, not even a heartbeat, is away. */
const silentMs = 120_000;
const collectMs = 1_000;

export function createHub(options: HubParts): Hub {
  const { members, replicas, instanceId } = options;
  const deliver = (room: string, message: OutgoingEvent, except: string) => {
    for (const session of members.inRoom(room)) {
      if (session.id !== except) {
        session.deliver(message);
      }
    }
  };
  const joinHere = (userId: string, room: string) => {
    for (const session of members.ofUser(userId)) {
      try {
        members.enter(session, room);
      } catch (error) {
        if (!(error instanceof AppError)) {
          throw error;
        }
        // A connection in too many rooms misses events of this one; nobody else must suffer for it.
      }
    }
  };
  const leaveHere = (userId: string, room: string) =>
    members.ofUser(userId).forEach((session) => members.leave(session, room));
  replicas.on("emit", (_from, [room = "", event = "", except = ""], json) =>
    deliver(room, new OutgoingEvent(event, json), except),
  );
  replicas.on("join", (_from, [userId = "", room = ""]) => joinHere(userId, room));
  replicas.on("leave", (_from, [userId = "", room = ""]) => leaveHere(userId, room));
  replicas.onMissed(() => {
    // Nobody knows whose events did not come; clients look again at what they show (promise R27).
    const resync = new OutgoingEvent("resync", toPayload({}, instanceId));
    for (const session of members.all()) {
      if (session.principal !== undefined) {
        session.deliver(resync);
      }
    }
  });
  const asking = createAsking(options);
  const isHeard = (room: string) => !members.isEmpty(room) || !replicas.areNone();
  return {
    isHeard,
    emit(room, event, payload, { except = "" } = {}) {
      if (!isHeard(room)) {
        // Nobody listens: what nobody gets need not be written.
        return;
      }
      const json = toPayload(payload, instanceId);
      deliver(room, new OutgoingEvent(event, json), except);
      replicas.send("emit", [room, event, except], json);
    },
    ask: asking.ask,
    channel: options.channels.open,
    join(userId, room) {
      joinHere(userId, room);
      replicas.send("join", [userId, room]);
    },
    leave(userId, room) {
      leaveHere(userId, room);
      replicas.send("leave", [userId, room]);
    },
    isHere: (userId) => members.ofUser(userId).length > 0,
    activeUsers() {
      const since = Date.now() - silentMs;
      const active = [...members.all()].filter(({ heardAt }) => heardAt >= since);
      return [...new Set(active.flatMap(({ principal }) => principal?.userId ?? []))];
    },
    ...createCollecting(replicas),
  };
}

function createCollecting(replicas: Replicas): Pick<Hub, "contribute" | "collect" | "find"> {
  const answers = new Map<string, (question: unknown) => unknown>();
  const open = new Map<string, (from: string, value: unknown) => void>();
  let last = 0;
  replicas.on("collect", (from, [id = "", topic = ""], json) => {
    const answer = answers.get(topic)?.(JSON.parse(json || "null"));
    replicas.send("found", [from, id], toJson(answer ?? null));
  });
  // Only the one that asked has an open question of that number under its own name.
  replicas.on("found", (from, [to = "", id = ""], json) => open.get(`${to} ${id}`)?.(from, JSON.parse(json)));
  /** Resolves when `take` says that it has enough, when all have answered, or after a second. */
  const askOthers = async (topic: string, question: unknown, take: (value: unknown) => boolean) => {
    const missing = new Set(replicas.known());
    if (missing.size === 0) {
      return;
    }
    const key = `${replicas.id} ${(last += 1)}`;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, collectMs);
      open.set(key, (from, value) => {
        missing.delete(from);
        if (take(value) || missing.size === 0) {
          clearTimeout(timer);
          resolve();
        }
      });
      replicas.send("collect", [String(last), topic], toJson(question ?? null));
    });
    open.delete(key);
  };
  return {
    contribute: (topic, answer) => void answers.set(topic, answer),
    async collect(topic) {
      const found: unknown[] = [answers.get(topic)?.(null)];
      await askOthers(topic, null, (value) => {
        found.push(value);
        return false;
      });
      return found;
    },
    async find(topic, question) {
      let found = answers.get(topic)?.(question) ?? undefined;
      if (found === undefined) {
        await askOthers(topic, question, (value) => {
          // Answers that come together are all heard: one that knows nothing must not undo one that knows.
          found ??= value ?? undefined;
          return found !== undefined;
        });
      }
      return found;
    },
  };
}
