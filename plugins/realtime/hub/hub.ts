import { AppError } from "#kernel/errors.ts";
import { toJson } from "#kernel/http/json.ts";
import type { Hub } from "#kernel/sockets/hub.ts";
import { createRpc, type HubParts } from "./rpc.ts";
import { OutgoingEvent, toPayload } from "../connections/outgoing.ts";
import type { Replicas } from "../replicas/replicas.ts";

/** A client that sent nothing for this long, not even a heartbeat, counts as away. */
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
        // A connection in too many rooms misses events of this one; others are not affected.
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
    // The missed events are unknown, so every client refetches (promise R27).
    const resync = new OutgoingEvent("resync", toPayload({}, instanceId));
    for (const session of members.all()) {
      if (session.principal !== undefined) {
        session.deliver(resync);
      }
    }
  });
  const rpc = createRpc(options);
  const isHeard = (room: string) => !members.isEmpty(room) || !replicas.isAlone();
  return {
    isHeard,
    emit(room, event, payload, { except = "" } = {}) {
      if (!isHeard(room)) {
        return;
      }
      const json = toPayload(payload, instanceId);
      deliver(room, new OutgoingEvent(event, json), except);
      replicas.send("emit", [room, event, except], json);
    },
    ask: rpc.call,
    channel: options.channels.open,
    join(userId, room) {
      joinHere(userId, room);
      replicas.send("join", [userId, room]);
    },
    leave(userId, room) {
      leaveHere(userId, room);
      replicas.send("leave", [userId, room]);
    },
    renewRooms: () => options.rooms.renewAll(),
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
  // The key holds the asking replica's id, so no other replica finds it.
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
          // Several answers may arrive in one turn: an empty one must not undo an earlier one.
          found ??= value ?? undefined;
          return found !== undefined;
        });
      }
      return found;
    },
  };
}
