import { io, type Socket } from "socket.io-client";

// Payloads are of every shape.
// oxlint-disable-next-line typescript/no-explicit-any
type Any = any;

/** A client of the plain protocol at /ws. */
export interface PlainClient {
  readonly socket: WebSocket;
  /** Every event frame so far. */
  readonly events: { event: string; data: Any; id?: number }[];
  /** Resolves with the first event, past or future, that fits. */
  event(fits: (event: string, data: Any) => boolean): Promise<Any>;
  /** Emits and resolves with the acknowledgement. */
  emit(event: string, data?: unknown): Promise<Any>;
  send(frame: unknown): void;
  /** Resolves when the connection has ended. */
  readonly closed: Promise<{ code: number; reason: string }>;
  close(): void;
  /** The server's id of this connection; resolves after the handshake. */
  sessionId(): Promise<string>;
}

export interface PlainOptions {
  /** Sent as the first frame. */
  readonly token?: string;
  readonly headers?: Record<string, string>;
  /** Answers questions of the server. */
  answer?(data: Any): unknown;
}

/** Connects to /ws; rejects when the server refuses. */
export async function connectPlain(url: string, options: PlainOptions = {}): Promise<PlainClient> {
  const { headers = {} } = options;
  const socket = new WebSocket(`${url.replace(/^http/, "ws")}/ws`, { headers } as never);
  const events: PlainClient["events"] = [];
  const waiting = new Set<() => void>();
  const acks = new Map<number, (data: Any) => void>();
  let last = 0;
  const send = (frame: unknown) =>
    socket.send(typeof frame === "string" || frame instanceof Blob ? frame : JSON.stringify(frame));
  socket.addEventListener("message", ({ data }) => {
    const frame = JSON.parse(String(data));
    if (frame.type === "ack") {
      acks.get(frame.id)?.(frame.data);
      return;
    }
    events.push(frame);
    waiting.forEach((look) => look());
    if (frame.id !== undefined && options.answer) {
      void Promise.resolve(options.answer(frame.data)).then((answer) =>
        send({ type: "ack", id: frame.id, data: answer }),
      );
    }
  });
  const closed = new Promise<{ code: number; reason: string }>((resolve) =>
    socket.addEventListener("close", ({ code, reason }) => resolve({ code, reason })),
  );
  await new Promise<void>((resolve, reject) => {
    socket.addEventListener("open", () => resolve());
    socket.addEventListener("error", () => reject(new Error("the connection was refused")));
  });
  if (options.token !== undefined) {
    send({ type: "auth", token: options.token });
  }
  const event: PlainClient["event"] = (fits) =>
    new Promise((resolve) => {
      const look = () => {
        const found = events.find((entry) => fits(entry.event, entry.data));
        if (found) {
          waiting.delete(look);
          resolve(found.data);
        }
      };
      waiting.add(look);
      look();
    });
  return {
    socket,
    events,
    event,
    send,
    closed,
    emit: (name, data) =>
      new Promise((resolve) => {
        const id = (last += 1);
        acks.set(id, resolve);
        send({ type: "emit", event: name, id, data });
      }),
    close: () => socket.close(),
    sessionId: async () => (await event((name) => name === "session")).session_id,
  };
}

/** Connects a Socket.IO client over WebSocket, without coming back by itself; resolves once it is connected. */
export async function connectSocketIo(url: string, token?: string, options: object = {}): Promise<Socket> {
  const socket = io(url, {
    path: "/ws/socket.io",
    transports: ["websocket"],
    reconnection: false,
    forceNew: true,
    auth: token === undefined ? {} : { token },
    ...options,
  });
  await new Promise<void>((resolve, reject) => {
    socket.once("connect", resolve);
    socket.once("connect_error", reject);
  });
  return socket;
}

/** Resolves with the first payload of an event that fits. */
export function nextEvent(
  socket: Socket,
  name: string,
  fits: (data: Any) => boolean = () => true,
): Promise<Any> {
  return new Promise((resolve) => {
    const look = (data: Any) => {
      if (fits(data)) {
        socket.off(name, look);
        resolve(data);
      }
    };
    socket.on(name, look);
  });
}

/** The value, or undefined when nothing comes within `ms`. */
export async function within<T>(ms: number, promise: Promise<T>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), ms);
  });
  return await Promise.race([promise, late]).finally(() => clearTimeout(timer));
}
