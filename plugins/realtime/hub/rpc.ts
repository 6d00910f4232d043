import { AppError } from "#kernel/errors.ts";
import { toJson } from "#kernel/http/json.ts";
import type { AskOptions, Question } from "#kernel/sockets/hub.ts";
import { toPayload } from "../connections/outgoing.ts";
import type { Channels } from "./channels.ts";
import type { Members } from "../connections/members.ts";
import type { RoomRenewal } from "../connections/room-renewal.ts";
import type { Replicas } from "../replicas/replicas.ts";
import { gone } from "../connections/session.ts";

/** Dependencies of the hub. */
export interface HubParts {
  readonly members: Members;
  readonly replicas: Replicas;
  readonly channels: Channels;
  readonly rooms: Pick<RoomRenewal, "renewAll">;
  readonly instanceId: string;
  /** WEBSOCKET_EVENT_CALLER_TIMEOUT in seconds; null = bounded by the caller's signal alone. */
  callTimeout(): number | null;
}

interface Open {
  readonly answer: PromiseWithResolvers<unknown>;
  /** The replica that holds the session, once it said so. */
  holder: string | undefined;
  /** Replicas that may still do so. */
  readonly maybe: Set<string>;
}

/** Time for a replica to say that it holds the session; the client behind it may take longer. */
const takenMs = 2_000;

/** Creates calls to a session on any replica, and serves the calls of other replicas to sessions of this one. */
export function createRpc(parts: HubParts) {
  const { members, replicas, instanceId, callTimeout } = parts;
  const askThere = createRemoteCalls(replicas);
  answerOthers(parts);
  return {
    async call(question: Question, { timeoutMs, signal }: AskOptions = {}): Promise<unknown> {
      const seconds = callTimeout();
      const limit = timeoutMs ?? (seconds === null ? undefined : seconds * 1000);
      const timeout = limit === undefined ? undefined : AbortSignal.timeout(limit);
      const ends = [signal, timeout].filter((one) => one !== undefined);
      const end = ends.length === 0 ? undefined : AbortSignal.any(ends);
      const json = toPayload(question.payload, instanceId);
      const session = findSession(members, question);
      try {
        end?.throwIfAborted();
        if (session === undefined && (members.find(question.sessionId) || replicas.isAlone())) {
          throw gone();
        }
        return await (session ? session.call(question.event, json, end) : askThere(question, json, end));
      } catch (error) {
        throw timeout?.aborted && !signal?.aborted ? unanswered(error) : error;
      }
    },
  };
}

function createRemoteCalls(replicas: Replicas) {
  const open = new Map<string, Open>();
  let last = 0;
  replicas.on("taken", (from, [to, id]) => {
    const entry = open.get(`${to} ${id}`);
    if (entry !== undefined) {
      entry.holder = from;
    }
  });
  replicas.on("lack", (from, [to, id]) => {
    const entry = open.get(`${to} ${id}`);
    if (entry?.maybe.delete(from) && entry.maybe.size === 0) {
      entry.answer.reject(gone());
    }
  });
  replicas.on("answer", (_from, [to, id], json) => open.get(`${to} ${id}`)?.answer.resolve(JSON.parse(json)));
  replicas.on("refuse", (_from, [to, id, reason]) =>
    open.get(`${to} ${id}`)?.answer.reject(reason === "rate_limited" ? crowded() : gone()),
  );
  replicas.onGone((id) => open.forEach(({ holder, answer }) => holder === id && answer.reject(gone())));
  return async (question: Question, json: string, signal: AbortSignal | undefined): Promise<unknown> => {
    const id = String((last += 1));
    const key = `${replicas.id} ${id}`;
    const maybe = new Set(replicas.known());
    const entry: Open = { answer: Promise.withResolvers<unknown>(), holder: undefined, maybe };
    const { reject } = entry.answer;
    const untaken = setTimeout(() => entry.holder ?? reject(gone()), takenMs);
    const abort = () => {
      replicas.send("drop", [id]);
      reject(signal?.reason);
    };
    open.set(key, entry);
    signal?.addEventListener("abort", abort, { once: true });
    try {
      replicas.send("ask", [id, question.sessionId, question.userId, question.event], json);
      return await entry.answer.promise;
    } finally {
      clearTimeout(untaken);
      signal?.removeEventListener("abort", abort);
      open.delete(key);
    }
  };
}

function answerOthers({ members, replicas }: HubParts): void {
  const serving = new Map<string, AbortController>();
  replicas.on("ask", (from, [id = "", sessionId = "", userId = "", event = ""], json) => {
    const session = findSession(members, { sessionId, userId });
    if (session === undefined) {
      replicas.send("lack", [from, id]);
      return;
    }
    const drop = new AbortController();
    const key = `${from} ${id}`;
    serving.set(key, drop);
    replicas.send("taken", [from, id]);
    void session
      .call(event, json, drop.signal)
      .then(
        (value) => replicas.send("answer", [from, id], toJson(value ?? null)),
        (error: unknown) => {
          if (!drop.signal.aborted) {
            replicas.send("refuse", [from, id, toReason(error)]);
          }
        },
      )
      .finally(() => serving.delete(key));
  });
  replicas.on("drop", (from, [id]) => serving.get(`${from} ${id}`)?.abort());
}

function findSession(members: Members, { sessionId, userId }: Pick<Question, "sessionId" | "userId">) {
  const session = members.find(sessionId);
  return session?.principal?.userId === userId ? session : undefined;
}

function toReason(error: unknown): string {
  return error instanceof AppError ? error.code : "unavailable";
}

function crowded(): AppError {
  return new AppError("rate_limited", "The client has too many open questions.");
}

function unanswered(cause: unknown): AppError {
  return new AppError("timeout", "The client did not answer in time.", { cause });
}
