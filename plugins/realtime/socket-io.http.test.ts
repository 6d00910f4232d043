import { once } from "node:events";
import type { Socket } from "socket.io-client";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { addHostAction, runAction } from "#plugins/functions/functions.fixture.ts";
import { toEnvelope } from "#kernel/sockets/envelope.ts";
import { toRoom } from "#kernel/sockets/rooms.ts";
import { type App, startApp, type TestUser } from "#test/support/app.ts";
import { connectPlain, connectSocketIo, nextEvent, within } from "#test/support/sockets.ts";
import { connectRaw } from "./raw-client.fixture.ts";
import { makeStage } from "./realtime.fixture.ts";

const { plugin, stage } = makeStage();
const open: Socket[] = [];
let app: App;
let member: TestUser;

beforeAll(async () => {
  app = await startApp({
    plugins: [plugin],
    env: {
      ENABLE_PUBLIC_ACTIVE_USERS_COUNT: "false",
      WEBSOCKET_SERVER_PING_INTERVAL: "1",
      WEBSOCKET_SERVER_PING_TIMEOUT: "1",
      USER_PERMISSIONS_FEATURES_API_KEYS: "true",
    },
  });
  member = await app.user();
});

afterEach(() => open.splice(0).forEach((socket) => socket.disconnect()));
afterAll(() => app.close());

async function connect(token?: string, options?: object): Promise<Socket> {
  const socket = await connectSocketIo(app.url, token, options);
  open.push(socket);
  return socket;
}

const say = (type: string, data?: unknown) =>
  stage.hub.emit(toRoom("user", member.id), "events", toEnvelope({ type, data }, { chatId: "c" }));

describe("a Socket.IO client", () => {
  it("gets the events of the person its handshake names", async () => {
    const socket = await connect(member.token);
    const coming = nextEvent(socket, "events");
    say("status", { description: "ü" });
    expect(await coming).toEqual({
      chat_id: "c",
      message_id: null,
      seq: null,
      instance_id: expect.any(String),
      data: { type: "status", data: { description: "ü" } },
    });
  });

  it("is acknowledged, also with big integers, and told why something fails", async () => {
    const socket = await connect(member.token);
    expect(await socket.emitWithAck("stage:add", { a: 2, b: 3 })).toEqual({ sum: 5, by: member.id });
    expect(await socket.emitWithAck("stage:big", {})).toEqual({ nanoseconds: 1_763_742_000_000_000_000 });
    expect(await socket.emitWithAck("stage:add", {})).toMatchObject({ code: "unprocessable" });
    expect(await socket.emitWithAck("user-join", { auth: { token: member.token } })).toEqual({
      id: member.id,
      name: member.name,
      session_id: socket.id,
    });
  });

  it("answers what it is asked", async () => {
    const socket = await connect(member.token);
    socket.on("events", (data, answer) => answer?.({ got: data.data.type }));
    const payload = toEnvelope({ type: "input", data: {} });
    const question = { userId: member.id, sessionId: socket.id as string, event: "events", payload };
    expect(await stage.hub.ask(question)).toEqual({ got: "input" });
  });

  it("stays connected without a good token, hears nothing, and may sign in later", async () => {
    for (const token of [undefined, "nonsense", (await app.user("pending")).token]) {
      const socket = await connect(token);
      const heard = nextEvent(socket, "events");
      say("status");
      expect(await within(100, heard)).toBeUndefined();
      expect(await socket.emitWithAck("heartbeat", {})).toBe(true);
      expect(await socket.emitWithAck("user-join", { auth: { token: "worse" } })).toMatchObject({
        code: "unauthenticated",
      });
      expect(await socket.emitWithAck("user-join", { auth: { token: member.token } })).toMatchObject({
        id: member.id,
      });
      say("status");
      expect(await heard).toMatchObject({ data: { type: "status" } });
    }
  });

  it("is sent away for good when it speaks without having signed in", async () => {
    const socket = await connect();
    const gone = new Promise((resolve) => socket.once("disconnect", resolve));
    socket.emit("ydoc:awareness:update", { document_id: "note:x" });
    expect(await gone).toBe("io server disconnect");
  });

  it("cannot become somebody else", async () => {
    const socket = await connect(member.token);
    const { token } = await app.admin();
    expect(await socket.emitWithAck("user-join", { auth: { token } })).toMatchObject({
      code: "unauthenticated",
    });
    expect(await socket.emitWithAck("user-join", {})).toMatchObject({ id: member.id });
  });

  it("lives on signs of life and goes without", async () => {
    const socket = await connect(member.token);
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    expect(socket.connected).toBe(true);
    const silent = new WebSocket(`${app.url.replace("http", "ws")}/ws/socket.io/?EIO=4&transport=websocket`);
    const closed = new Promise<number>((resolve) =>
      silent.addEventListener("close", ({ code }) => resolve(code)),
    );
    silent.addEventListener("open", () => silent.send("40"));
    expect(await within(4_000, closed)).toBe(4008);
  });

  it("goes without signs of life over the plain protocol, too, also when it has signed in", async () => {
    const { socket } = await connectRaw(app.url, member.token);
    const closed = once(socket, "close");
    socket.resume();
    expect(await within(4_000, closed)).toBeDefined();
  });

  it("is told clearly that polling is not offered", async () => {
    const answer = await app.call("GET /ws/socket.io/?EIO=4&transport=polling");
    expect(answer).toMatchObject({ status: 400, body: { code: 0, message: "Transport unknown" } });
    expect((await app.call("POST /ws/socket.io/?EIO=4&transport=polling", { body: "40" })).status).toBe(400);
    await expect(connectSocketIo(app.url, member.token, { transports: ["polling"] })).rejects.toThrow();
  });

  it("has one namespace", async () => {
    const wrong = connectSocketIo(`${app.url}/admin`, member.token);
    await expect(wrong).rejects.toThrow("Invalid namespace");
  });

  it("connects with an API key where keys may be used", async () => {
    await member.call("POST /api/v1/auths/api_key");
    const made = await member.call("POST /api/v1/auths/api_key");
    const socket = await connect(made.body.api_key);
    const coming = nextEvent(socket, "events");
    say("status");
    expect(await coming).toMatchObject({ data: { type: "status" } });
    const gone = new Promise((resolve) => socket.once("disconnect", resolve));
    await member.call("DELETE /api/v1/auths/api_key");
    expect(await within(2_000, gone)).toBe("io server disconnect");
  });
});

describe("functions", () => {
  const code = `await host.emit({ type: "status", data: { description: "thinking", done: false } });
    return { sure: await host.ask({ type: "confirmation", title: "Sure?" }) };`;

  it("show a status to every client of the caller and ask the one that called", async () => {
    await addHostAction(app, { id: "ask_me", code, capabilities: {} });
    const caller = await connect(member.token);
    const watching = await connectPlain(app.url, { token: member.token, answer: () => "not asked" });
    const seen: { type: string; data: unknown }[] = [];
    caller.on("events", ({ data }, answer) => {
      seen.push(data);
      answer?.(data.data.title === "Sure?");
    });
    const body = { chat_id: "temporary:c", id: "m", session_id: caller.id };
    await watching.sessionId();
    expect(await runAction(app, { id: "ask_me", user: member, body })).toEqual({ sure: true });
    expect(seen).toEqual([
      { type: "status", data: { description: "thinking", done: false } },
      { type: "confirmation", data: { title: "Sure?", question_id: expect.any(String) } },
    ]);
    const events = watching.events.filter(({ event }) => event === "events").map(({ data }) => data);
    expect(events).toEqual([
      {
        chat_id: "temporary:c",
        message_id: "m",
        seq: null,
        instance_id: expect.any(String),
        data: { type: "status", data: { description: "thinking", done: false } },
      },
    ]);
    watching.close();
  });

  it("ask again in the chat of a page that was loaded again, and in no other", async () => {
    const before = await connect(member.token);
    const ids: string[] = [];
    before.on("events", ({ data }) => {
      if (data.type === "confirmation") {
        ids.push(data.data.question_id);
        before.disconnect();
      }
    });
    const body = { chat_id: "temporary:c", id: "m", session_id: before.id };
    const answered = runAction(app, { id: "ask_me", user: member, body });
    await expect.poll(() => ids.length).toBe(1);

    const asked: string[] = [];
    const answering = async (token: string) => {
      const socket = await connect(token);
      socket.on("events", ({ data }, answer) => {
        if (data.type === "confirmation") {
          asked.push(data.data.question_id);
          answer?.(true);
        }
      });
      return socket;
    };
    const stranger = await answering((await app.user()).token);
    expect(await stranger.emitWithAck("chat:questions", { chat_id: "temporary:c" })).toBe(true);
    const after = await answering(member.token);
    expect(await after.emitWithAck("chat:questions", { chat_id: "temporary:other" })).toBe(true);
    expect(asked).toEqual([]);
    expect(await after.emitWithAck("chat:questions", { chat_id: "temporary:c" })).toBe(true);
    expect(await answered).toEqual({ sure: true });
    expect(asked).toEqual(ids);
  });

  it("cannot ask through somebody else's connection, or one that is gone", async () => {
    const stranger = await connect((await app.user()).token);
    const mine = await connect(member.token);
    for (const session_id of [stranger.id, "nonsense"]) {
      const answer = await runAction(app, { id: "ask_me", user: member, body: { session_id } });
      expect(answer).toEqual({ refused: "Client session disconnected." });
    }
    mine.on("events", ({ data }) => data.type === "confirmation" && mine.disconnect());
    const answer = await runAction(app, { id: "ask_me", user: member, body: { session_id: mine.id } });
    expect(answer).toEqual({ refused: "Client session disconnected." });
  });
});

describe("activity", () => {
  it("is for administrators alone when the operator says so", async () => {
    const admin = await app.admin();
    expect((await member.call("GET /api/usage")).status).toBe(403);
    expect((await admin.call("GET /api/usage")).status).toBe(200);
  });
});
