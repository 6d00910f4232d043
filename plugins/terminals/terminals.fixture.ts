import { WebSocket } from "ws";
import type { App, TestUser } from "#test/support/app.ts";
import type { TerminalServer } from "#test/support/terminal/server.ts";

/** An entry for a running server; without grants it is for administrators alone. */
export const entryOf = ({ url, key }: Pick<TerminalServer, "url" | "key">, more: object = {}) => ({
  id: "box",
  name: "Box",
  url,
  key,
  ...more,
});

export const everyone = {
  access_grants: [{ principal_type: "user", principal_id: "*", permission: "read" }],
};

/** Stores entries as an administrator does. */
export async function connect(app: App, ...entries: readonly object[]) {
  const admin = await app.admin();
  const body = { TERMINAL_SERVER_CONNECTIONS: entries };
  return await admin.call("POST /api/v1/configs/terminal_servers", body);
}

/** Makes a session as the panel does. */
export async function makeSession(
  app: App,
  user: TestUser,
  headers: Record<string, string> = {},
): Promise<string> {
  const made = await user.call("POST /api/v1/terminals/box/api/terminals", undefined, headers);
  return made.body.id;
}

/** A client of a session, with everything it was sent. */
export class Client {
  readonly socket: WebSocket;
  /** All output so far. */
  text = "";
  /** `at` is a time of `performance.now()`. */
  readonly closed: Promise<{ code: number; reason: string; at: number }>;

  constructor(app: App, path: string, options: { headers?: Record<string, string> } = {}) {
    this.socket = new WebSocket(app.url.replace("http", "ws") + path, options);
    this.socket.on("message", (data) => (this.text += String(data)));
    this.closed = new Promise((resolve) => {
      this.socket.on("close", (code, reason) =>
        resolve({ code, reason: String(reason), at: performance.now() }),
      );
    });
    this.socket.on("error", () => undefined);
  }

  static async open(app: App, session: string, token: string): Promise<Client> {
    const client = new Client(app, `/api/v1/terminals/box/api/terminals/${session}`);
    await client.opened();
    client.send({ type: "auth", token });
    return client;
  }

  opened(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.socket.once("open", () => resolve());
      this.socket.once("error", reject);
    });
  }

  send(frame: object): void {
    this.socket.send(JSON.stringify(frame));
  }

  type(keys: string): void {
    this.socket.send(Buffer.from(keys));
  }
}

/** An empty chat of a person. */
export async function makeChat(app: App, user: TestUser): Promise<string> {
  const chat = { title: "Box", models: [], history: { messages: {}, currentId: null } };
  const made = await user.call("POST /api/v1/chats/new", { chat });
  if (typeof made.body.id !== "string") {
    throw new Error(`the chat could not be made: ${made.text}`);
  }
  return made.body.id;
}
