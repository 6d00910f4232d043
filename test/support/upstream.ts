import { createServer, type Server, type Socket } from "node:net";
import type { AddressInfo } from "node:net";
import { shareInWorker } from "./leaks/leaks.ts";
import { createExchange, type Script, toJournal, type UpstreamRequest } from "./upstream-exchange.ts";
import { createRequestReader, type RawRequest } from "./upstream-http.ts";
import { failure, modelList } from "./upstream-scripts.ts";

/** A path (compared with the end of the request's path, query left out) or a predicate. */
export type Matcher = string | ((request: UpstreamRequest) => boolean);

export interface Upstream {
  /** Base address of the common wire, with `/v1`. */
  readonly url: string;
  readonly origin: string;
  readonly requests: readonly UpstreamRequest[];
  /** Items of GET …/models, or their ids. */
  models: readonly (string | Readonly<Record<string, unknown>>)[];
  /** Answers the next matching request (any when no matcher is given) with `script`, once; calls queue up. */
  reply(script: Script): void;
  reply(matcher: Matcher, script: Script): void;
  /** Answers every matching request that nothing queued answers; the latest registration wins. */
  always(script: Script): void;
  always(matcher: Matcher, script: Script): void;
  /** While on, connections are accepted and nothing is ever read or answered. */
  blackHole(on: boolean): void;
  /** Resolves with the next request that matches, also an earlier one that was not awaited yet. */
  nextRequest(matcher?: Matcher): Promise<UpstreamRequest>;
  /** Connections that are open now. */
  openSockets(): number;
  /** Resolves as soon as at most `count` connections are open. */
  socketsAtMost(count: number): Promise<void>;
  close(): Promise<void>;
}

/** Starts a scriptable raw upstream on a free loopback port (or on `port`, to come back after an outage). */
export async function startUpstream({ port = 0 }: { port?: number } = {}): Promise<Upstream> {
  return (await open(port)).upstream;
}

const shared: { upstream: Upstream; clear(): void; isTaken: boolean }[] = [];

/**
 * An upstream that the next suite of this worker uses again. The first one that a suite takes has the same address in
 * every suite, and so has the second: platforms with the same variables can be shared. Suites that count connections or
 * take the server down start their own.
 */
export async function useUpstream(): Promise<Upstream> {
  let place = shared.find(({ isTaken }) => !isTaken);
  if (place === undefined) {
    place = { ...(await shareInWorker(() => open(0))), isTaken: true };
    shared.push(place);
  }
  place.isTaken = true;
  place.clear();
  return Object.assign(place.upstream, {
    async close() {
      place.clear();
      place.isTaken = false;
    },
  });
}

async function open(port: number): Promise<{ upstream: Upstream; clear(): void }> {
  const state = createState();
  const server = createServer({ noDelay: true, allowHalfOpen: false }, (socket) => accept(state, socket));
  await listen(server, port);
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const upstream = Object.assign(state.control, {
    url: `${origin}/v1`,
    origin,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      state.sockets.forEach((socket) => socket.destroy());
      await closed;
    },
  }) satisfies Upstream;
  return { upstream, clear: () => clear(state) };
}

/** Forgets requests and scripts, and ends answers that are still written. */
function clear(state: State): void {
  for (const list of [state.requests, state.once, state.standing]) {
    list.length = 0;
  }
  state.hole.on = false;
  state.control.models = initialModels;
  state.busy.forEach((socket) => socket.destroy());
}

interface Rule {
  readonly matcher: Matcher;
  readonly script: Script;
}

const initialModels: Upstream["models"] = ["mock-model"];

type State = ReturnType<typeof createState>;

function createState() {
  const requests: UpstreamRequest[] = [];
  const sockets = new Set<Socket>();
  /** Those with a request that is not answered yet. */
  const busy = new Set<Socket>();
  const once: Rule[] = [];
  const standing: Rule[] = [];
  const observers = new Set<() => void>();
  const taken = new WeakSet<UpstreamRequest>();
  const hole = { on: false };
  const until = <T>(probe: () => T | undefined) =>
    new Promise<T>((resolve) => {
      const observe = () => {
        const value = probe();
        if (value !== undefined) {
          observers.delete(observe);
          resolve(value);
        }
      };
      observers.add(observe);
      observe();
    });
  const control = {
    requests,
    models: initialModels,
    reply: (...rule: [Script] | [Matcher, Script]) => void once.push(toRule(rule)),
    always: (...rule: [Script] | [Matcher, Script]) => void standing.unshift(toRule(rule)),
    blackHole: (on: boolean) => void (hole.on = on),
    nextRequest: (matcher: Matcher = () => true) =>
      until(() => {
        const found = requests.find((request) => !taken.has(request) && matches(matcher, request));
        return found && (taken.add(found), found);
      }),
    openSockets: () => sockets.size,
    socketsAtMost: (count: number) => until(() => (sockets.size <= count ? true : undefined)).then(() => {}),
  };
  const changed = () => [...observers].forEach((observe) => observe());
  return { control, requests, sockets, busy, once, standing, hole, changed };
}

function accept(state: State, socket: Socket): void {
  const gone = new AbortController();
  state.sockets.add(socket);
  socket.on("error", () => {});
  socket.on("close", () => {
    state.sockets.delete(socket);
    state.busy.delete(socket);
    gone.abort();
    state.changed();
  });
  if (state.hole.on) {
    // Unread, so that the caller's bytes stay in the kernel: only its own time limit ends the wait.
    socket.pause();
    state.busy.add(socket);
    return;
  }
  let turn: Promise<unknown> = Promise.resolve();
  const read = createRequestReader((raw) => {
    turn = turn.then(() => answer(state, socket, { raw, gone: gone.signal }));
  });
  socket.on("data", read);
}

async function answer(state: State, socket: Socket, { raw, gone }: { raw: RawRequest; gone: AbortSignal }) {
  const aborted = Promise.withResolvers<number>();
  const settled = Promise.withResolvers<void>();
  const request = toJournal(raw, { aborted: aborted.promise, settled: settled.promise });
  const leave = () => aborted.resolve((request.abortedAt = performance.now()));
  gone.addEventListener("abort", leave, { once: true });
  const script = chooseScript(state, request);
  state.requests.push(request);
  state.changed();
  state.busy.add(socket);
  await script(createExchange(socket, request, gone));
  state.busy.delete(socket);
  gone.removeEventListener("abort", leave);
  settled.resolve();
}

function chooseScript(state: State, request: UpstreamRequest): Script {
  const queued = state.once.findIndex((rule) => matches(rule.matcher, request));
  const rule =
    queued >= 0
      ? state.once.splice(queued, 1)[0]
      : state.standing.find((each) => matches(each.matcher, request));
  if (rule) {
    return rule.script;
  }
  if (request.method === "GET" && matches("/models", request)) {
    return modelList(state.control.models);
  }
  return failure(501, `No script answers ${request.method} ${request.path}`);
}

function toRule(rule: [Script] | [Matcher, Script]): Rule {
  // A queued script without a matcher must not be eaten by a background refresh of the model list.
  return rule.length === 2
    ? { matcher: rule[0], script: rule[1] }
    : { matcher: (request) => request.method !== "GET", script: rule[0] };
}

function matches(matcher: Matcher, request: UpstreamRequest): boolean {
  return typeof matcher === "string" ? request.path.split("?")[0]!.endsWith(matcher) : matcher(request);
}

function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", () => resolve());
  });
}
