const reconnectMs = 2_000;

/** A connection to /ws for the session of the cookie. It opens with the first `on` or `emit`. */
export function createSocket() {
  const handlers = new Map();
  const acknowledgements = new Map();
  let connection;
  let lastId = 0;
  let isClosed = false;

  function connect() {
    connection ??= new Promise((resolve, reject) => {
      const socket = new WebSocket(`${location.origin.replace(/^http/, "ws")}/ws`);
      socket.addEventListener("message", ({ data }) => receive(socket, JSON.parse(data), resolve));
      socket.addEventListener("close", ({ code }) => {
        const error = new Error(`The connection was closed (${code}).`);
        connection = undefined;
        reject(error);
        acknowledgements.forEach((waiting) => waiting.reject(error));
        acknowledgements.clear();
        if (!isClosed && handlers.size > 0) {
          setTimeout(() => connect().catch(() => undefined), reconnectMs);
        }
      });
    });
    return connection;
  }

  async function receive(socket, frame, resolve) {
    if (frame.type === "ack") {
      acknowledgements.get(frame.id)?.resolve(frame.data);
      acknowledgements.delete(frame.id);
      return;
    }
    if (frame.event === "session") {
      resolve(socket);
    }
    for (const handle of handlers.get(frame.event) ?? []) {
      const answer = await handle(frame.data);
      if (frame.id !== undefined) {
        socket.send(JSON.stringify({ type: "ack", id: frame.id, data: answer ?? null }));
      }
    }
  }

  return {
    /** Calls `handle` with the data of each such event; returns a function that ends it. */
    on(event, handle) {
      handlers.set(event, new Set(handlers.get(event)).add(handle));
      connect().catch(() => undefined);
      return () => {
        handlers.get(event)?.delete(handle);
        if (handlers.get(event)?.size === 0) {
          handlers.delete(event);
        }
      };
    },
    /** Resolves to what the server's handler returned. */
    async emit(event, data) {
      const socket = await connect();
      const id = (lastId += 1);
      return new Promise((resolve, reject) => {
        acknowledgements.set(id, { resolve, reject });
        socket.send(JSON.stringify({ type: "emit", event, data, id }));
      });
    },
    close() {
      isClosed = true;
      connection?.then((socket) => socket.close(), () => undefined);
    },
  };
}
