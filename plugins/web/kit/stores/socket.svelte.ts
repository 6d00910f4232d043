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

/**
 * The one connection to `/ws`. It opens with the first use and comes back by itself; whoever follows a run resumes it
 * by `seq` in a handler of `onConnect`.
 */
class Socket {
  /** `lost` once a connection broke, until the next one stands. */
  state = $state<"idle" | "connecting" | "open" | "lost">("idle");
  /** The id under which the server reaches this tab: `session_id` of requests. */
  id = $state.raw<string>();

  #socket: WebSocket | undefined;
  #opening: Promise<WebSocket> | undefined;
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
    const socket = await this.connect();
    const id = (this.#lastId += 1);
    return (await new Promise<unknown>((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      socket.send(JSON.stringify({ type: "emit", event, data, id }));
    })) as Answer;
  }

  /** Resolves once a session stands. */
  connect(): Promise<WebSocket> {
    this.#opening ??= this.#open();
    return this.#opening;
  }

  close(): void {
    this.#isClosed = true;
    this.#socket?.close();
  }

  #open(): Promise<WebSocket> {
    this.#isClosed = false;
    this.state = this.state === "lost" ? "lost" : "connecting";
    return new Promise((resolve, reject) => {
      const socket = new WebSocket(`${location.origin.replace(/^http/, "ws")}/ws`);
      this.#socket = socket;
      socket.addEventListener("message", ({ data }) => {
        const frame = JSON.parse(data) as Frame;
        if (frame.event === "session") {
          this.#stand(frame.data as { session_id?: string; id?: string });
          resolve(socket);
        }
        void this.#receive(socket, frame);
      });
      socket.addEventListener("close", ({ code }) => {
        const error = new Error(`The connection was closed (${code}).`);
        reject(error);
        this.#fall(error);
      });
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
    this.#socket = undefined;
    clearInterval(this.#heartbeat);
    this.#waiting.forEach(({ reject }) => reject(error));
    this.#waiting.clear();
    if (this.#isClosed) {
      this.state = "idle";
      return;
    }
    this.state = "lost";
    const delay = Math.min(longestDelayMs, firstDelayMs * 2 ** this.#attempts);
    this.#attempts += 1;
    setTimeout(() => this.connect().catch(() => undefined), delay * (0.75 + Math.random() / 2));
  }

  async #receive(socket: WebSocket, frame: Frame): Promise<void> {
    if (frame.type === "ack") {
      this.#waiting.get(frame.id as number)?.resolve(frame.data);
      this.#waiting.delete(frame.id as number);
      return;
    }
    for (const handle of this.#handlers.get(frame.event ?? "") ?? []) {
      const answer = await handle(frame.data as never);
      if (frame.id !== undefined && answer !== undefined) {
        socket.send(JSON.stringify({ type: "ack", id: frame.id, data: answer }));
      }
    }
  }
}

export const socket = new Socket();
