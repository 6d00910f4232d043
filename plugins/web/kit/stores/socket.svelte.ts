import { TransportChoice } from "../transports/choose.ts";
import type { Transport, TransportKind } from "../transports/transport.ts";
import { session } from "./session.svelte.ts";

/** What a subscriber of `events` gets: one event of one message, chat or person. */
export interface EventEnvelope {
  readonly chat_id?: string;
  readonly message_id?: string;
  readonly instance_id?: string;
  readonly seq?: number;
  readonly data: { readonly type: string; readonly data?: unknown };
}

type Handler = (data: never) => unknown;

interface Frame {
  readonly type: "event" | "ack";
  readonly event?: string;
  readonly id?: number | string;
  readonly data?: unknown;
}

interface Waiting {
  resolve(data: unknown): void;
  reject(error: Error): void;
}

const firstDelayMs = 500;
const longestDelayMs = 15_000;
const heartbeatMs = 30_000;
/** Time for the first words of the server, whichever way they come. */
const longestOpeningMs = 20_000;

/**
 * The one connection for events, over a WebSocket or, where none comes through, over HTTP. It opens with the first use
 * and comes back by itself; whoever follows a run resumes it by `seq` in a handler of `onConnect`.
 */
class Socket {
  /** `lost` once a connection broke, until the next one stands. */
  state = $state<"idle" | "connecting" | "open" | "lost">("idle");
  /** The id under which the server reaches this tab: `session_id` of requests. */
  id = $state.raw<string>();
  /** Which way events come. */
  kind = $state<TransportKind>("socket");

  readonly #choice = new TransportChoice(() => session.config?.features.enable_websocket !== false);
  #transport: Transport | undefined;
  #opening: Promise<Transport> | undefined;
  readonly #handlers = new Map<string, Set<Handler>>();
  readonly #connected = new Set<(isAgain: boolean) => void>();
  readonly #waiting = new Map<number, Waiting>();
  #lastId = 0;
  #attempts = 0;
  #isClosed = false;
  #heartbeat: ReturnType<typeof setInterval> | undefined;

  /** Calls `handle` for each event of that name; what it returns answers calls of the server. Returns the way out. */
  on<Data>(event: string, handle: (data: Data) => unknown): () => void {
    const handlers = this.#handlers.get(event) ?? new Set();
    this.#handlers.set(event, handlers.add(handle as Handler));
    this.connect().catch(() => undefined);
    return () => handlers.delete(handle as Handler);
  }

  /** Calls `handle` whenever a connection stands; `isAgain` when one was lost before. Returns the way out. */
  onConnect(handle: (isAgain: boolean) => void): () => void {
    this.#connected.add(handle);
    return () => this.#connected.delete(handle);
  }

  /** Resolves to what the server's handler returned; rejects when the connection breaks before. */
  async emit<Answer>(event: string, data?: unknown): Promise<Answer> {
    const transport = await this.connect();
    const id = (this.#lastId += 1);
    return (await new Promise<unknown>((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      transport.send({ type: "emit", event, data, id });
    })) as Answer;
  }

  /** Resolves once a session stands. */
  connect(): Promise<Transport> {
    this.#opening ??= this.#open();
    return this.#opening;
  }

  close(): void {
    this.#isClosed = true;
    this.#transport?.close();
    this.#fall(new Error("The connection was closed."));
  }

  #open(): Promise<Transport> {
    if (session.isView) {
      return Promise.reject(new Error("A view follows no events."));
    }
    this.#isClosed = false;
    this.state = this.state === "lost" ? "lost" : "connecting";
    return new Promise((resolve, reject) => {
      const fall = (reason: string) => {
        clearTimeout(timer);
        const error = new Error(reason);
        if (this.#choice.fell() && !this.#isClosed) {
          this.#reject(error);
          this.state = this.state === "open" ? "lost" : this.state;
          this.#opening = this.#open();
          this.#opening.then(resolve, reject);
          return;
        }
        reject(error);
        this.#fall(error);
      };
      const timer = setTimeout(() => {
        transport.close();
        fall("The server did not answer in time.");
      }, longestOpeningMs);
      const transport = this.#choice.open({
        onkind: (kind) => (this.kind = kind),
        onclose: fall,
        onframe: (value) => {
          const frame = value as Frame;
          if (frame.event === "session") {
            clearTimeout(timer);
            this.#choice.stood();
            this.#stand(frame.data as { session_id?: string; id?: string });
            resolve(transport);
          }
          void this.#receive(transport, frame);
        },
      });
      this.#transport = transport;
    });
  }

  #stand(data: { session_id?: string; id?: string }): void {
    const isAgain = this.state === "lost";
    this.state = "open";
    this.#attempts = 0;
    this.id = data.session_id ?? data.id;
    clearInterval(this.#heartbeat);
    this.#heartbeat = setInterval(() => this.emit("heartbeat", {}).catch(() => undefined), heartbeatMs);
    this.#connected.forEach((handle) => handle(isAgain));
  }

  #fall(error: Error): void {
    this.#opening = undefined;
    this.#transport = undefined;
    this.#reject(error);
    if (this.#isClosed) {
      this.state = "idle";
      return;
    }
    this.state = "lost";
    const delay = Math.min(longestDelayMs, firstDelayMs * 2 ** this.#attempts);
    this.#attempts += 1;
    setTimeout(() => this.connect().catch(() => undefined), delay * (0.75 + Math.random() / 2));
  }

  /** Nobody answers any more what was asked over a connection that broke. */
  #reject(error: Error): void {
    clearInterval(this.#heartbeat);
    this.#waiting.forEach(({ reject }) => reject(error));
    this.#waiting.clear();
  }

  async #receive(transport: Transport, frame: Frame): Promise<void> {
    if (frame.type === "ack") {
      this.#waiting.get(frame.id as number)?.resolve(frame.data);
      this.#waiting.delete(frame.id as number);
      return;
    }
    for (const handle of this.#handlers.get(frame.event ?? "") ?? []) {
      const answer = await handle(frame.data as never);
      if (frame.id !== undefined && answer !== undefined) {
        transport.send({ type: "ack", id: frame.id, data: answer });
      }
    }
  }
}

export const socket = new Socket();
