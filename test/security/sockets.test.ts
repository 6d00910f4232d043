import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { toRoom } from "#kernel/sockets/rooms.ts";
import { makeStage } from "#plugins/realtime/realtime.fixture.ts";
import { type App, startApp, type TestUser } from "#test/support/app.ts";
import { report } from "#test/support/faults.ts";
import { connectPlain, within } from "#test/support/sockets.ts";
import { sendRaw, toRequest } from "./raw.fixture.ts";

const { plugin, stage } = makeStage();
let app: App;
let member: TestUser;
let admin: TestUser;

beforeAll(async () => {
  app = await startApp({
    plugins: [plugin],
    env: { CORS_ALLOW_ORIGIN: "https://friend.test" },
  });
  admin = await app.admin();
  member = await app.user();
});

afterAll(() => app.close());

const handshake = (path: string, headers: Record<string, string> = {}) =>
  toRequest(`GET ${path} HTTP/1.1`, {
    connection: "Upgrade",
    upgrade: "websocket",
    "sec-websocket-version": "13",
    "sec-websocket-key": randomBytes(16).toString("base64"),
    ...headers,
  });

/** One masked frame as a browser would send it. */
function toFrame(opcode: number, payload: Buffer, length = payload.length): Buffer {
  const head = Buffer.alloc(14);
  head[0] = 0x80 | opcode;
  head[1] = 0x80 | 127;
  head.writeBigUInt64BE(BigInt(length), 2);
  return Buffer.concat([head, payload]);
}

/** A connection that was let in, byte by byte ours. */
async function openRaw(token = member.token, path = "/ws"): Promise<Socket> {
  const { hostname, port } = new URL(app.url);
  const socket = connect(Number(port), hostname);
  socket.on("error", () => {});
  socket.write(handshake(path, { authorization: `Bearer ${token}` }));
  const [answer] = (await once(socket, "data")) as [Buffer];
  expect(answer.toString("latin1")).toContain("101 Switching Protocols");
  return socket;
}

const isAlive = async () => {
  expect((await app.call("GET /health")).status).toBe(200);
  const client = await connectPlain(app.url, { token: member.token });
  expect(await client.emit("stage:add", { a: 1, b: 1 })).toMatchObject({ sum: 2 });
  client.close();
};

describe("a page of another site", () => {
  it.each(["/ws", "/ws/socket.io/?EIO=4&transport=websocket"])("may not open %s", async (path) => {
    const from = (origin: string) => sendRaw(app.url, handshake(path, { origin }));
    expect((await from("https://elsewhere.test")).status).toBe(403);
    expect((await from("https://friend.test.elsewhere.test")).status).toBe(403);
    expect((await from("null")).status).toBe(403);
    expect((await from("https://friend.test")).status).toBe(101);
  });

  it("is told in a readable answer", async () => {
    const answer = await sendRaw(app.url, handshake("/ws", { origin: "https://elsewhere.test" }));
    expect(answer.text).toContain('{"detail":"Connections from this site are not accepted."}');
  });
});

describe("handshakes", () => {
  it.each<[string, string, Record<string, string>, number]>([
    ["with a bad token", "/ws", { authorization: "Bearer nonsense" }, 401],
    ["with an endless token", "/ws", { authorization: `Bearer ${"x".repeat(9_000)}` }, 401],
    ["to another path", "/ws/elsewhere", {}, 404],
    ["to a path of HTTP", "/api/config", {}, 200],
    ["without a key", "/ws", { "sec-websocket-key": "" }, 400],
    ["of an old version", "/ws", { "sec-websocket-version": "1" }, 400],
    ["for another protocol", "/health", { upgrade: "h2c" }, 200],
    ["with a broken path", "/ws%", {}, 400],
  ])("%s are answered", async (_what, path, headers, status) => {
    expect((await sendRaw(app.url, handshake(path, headers))).status).toBe(status);
    await isAlive();
  });

  it("that break off leave nothing behind", async () => {
    const { hostname, port } = new URL(app.url);
    await Promise.all(
      Array.from({ length: 50 }, async () => {
        const socket = connect(Number(port), hostname);
        socket.on("error", () => {});
        await once(socket, "connect");
        socket.write(handshake("/ws", { authorization: `Bearer ${member.token}` }));
        socket.resetAndDestroy();
      }),
    );
    await isAlive();
  });
});

describe("frames", () => {
  const bad: [string, unknown][] = [
    ["no JSON", "hello"],
    ["a number", "1"],
    ["null", "null"],
    ["a list", "[]"],
    ["an unknown type", { type: "shout" }],
    ["an emit without an event", { type: "emit", data: {} }],
    ["an emit of a number", { type: "emit", event: 7 }],
    ["a prototype", '{"type":"emit","event":"heartbeat","data":{"__proto__":{"x":1}}}'],
    ["a deep value", `{"type":"emit","event":"heartbeat","data":${"[".repeat(5000)}${"]".repeat(5000)}}`],
    ["bytes", new Blob([new Uint8Array([1, 2, 3])])],
  ];
  it.each(bad)("of %s end the connection and nothing else", async (_what, frame) => {
    const client = await connectPlain(app.url, { token: member.token });
    await client.sessionId();
    client.send(frame);
    expect(await client.closed).toMatchObject({ code: 4002 });
    await isAlive();
  });

  it("beyond a megabyte are not read", async () => {
    const client = await connectPlain(app.url, { token: member.token });
    client.send({ type: "emit", event: "heartbeat", data: "x".repeat(1_100_000) });
    expect(await client.closed).toMatchObject({ code: 1009 });
    const socket = await openRaw();
    socket.write(toFrame(1, Buffer.alloc(10), 2 ** 40));
    await once(socket, "close");
    await isAlive();
  });

  it.each([
    ["an unknown opcode", toFrame(0x5, Buffer.from("x"))],
    ["text that is no UTF-8", toFrame(0x1, Buffer.from([0xff, 0xfe]))],
    ["noise", randomBytes(4096)],
  ])("of %s end the connection and nothing else", async (_what, bytes) => {
    const socket = await openRaw();
    socket.write(bytes);
    socket.resume();
    await once(socket, "close");
    await isAlive();
  });

  it.each([
    "9",
    "4",
    "49",
    "42",
    '42["x"',
    '42["disconnect"]',
    "451-[{}]",
    "42{}",
    '42[{"a":1}]',
    "40{",
    "bAAA",
  ])("of Socket.IO that say %s end the connection and nothing else", async (text) => {
    const socket = new WebSocket(`${app.url.replace("http", "ws")}/ws/socket.io/?EIO=4&transport=websocket`);
    const closed = once(socket, "close");
    await once(socket, "open");
    socket.send('40{"token":"x"}');
    socket.send(text);
    // Half an event with an attachment waits for the rest; any other frame is wrong.
    socket.send("4");
    await closed;
    await isAlive();
  });
});

describe("a client that asks for much", () => {
  it("gets it done one after another while others are served", async () => {
    const greedy = await connectPlain(app.url, { token: member.token });
    const other = await connectPlain(app.url, { token: admin.token });
    const joined = Array.from({ length: 10_000 }, (_, at) =>
      greedy.emit("stage:join", { channel: `c${at}` }),
    );
    const begun = performance.now();
    expect(await other.emit("stage:add", { a: 1, b: 1 })).toMatchObject({ sum: 2 });
    const waited = performance.now() - begun;
    const answers = await Promise.all(joined);
    // Its own room counts too.
    expect(answers.filter((answer) => typeof answer === "number")).toHaveLength(999);
    expect(answers.at(-1)).toMatchObject({ code: "rate_limited" });
    report("S117", "another client's event during 10,000 joins", { ms: waited });
    // The client shares the process with its ten thousand frames.
    expect(waited).toBeLessThan(5_000);
    [greedy, other].forEach((client) => client.close());
    await Promise.all([greedy.closed, other.closed]);
    await isAlive();
  });

  it("has no more than two hundred connections", async () => {
    const user = await app.user();
    const clients = await Promise.all(
      Array.from({ length: 205 }, () => connectPlain(app.url, { token: user.token })),
    );
    const codes = await Promise.all(clients.map(({ closed }) => within(500, closed)));
    expect(codes.filter((end) => end?.code === 4029)).toHaveLength(5);
    // Over the other transport too: a client that stays connected without events never reconnects.
    const socket = new WebSocket(`${app.url.replace("http", "ws")}/ws/socket.io/?EIO=4&transport=websocket`);
    await once(socket, "open");
    socket.send(`40${JSON.stringify({ token: user.token })}`);
    expect(await within(2_000, once(socket, "close"))).toMatchObject([{ code: 4029 }]);
    clients.forEach((client) => client.close());
    await Promise.all(clients.map(({ closed }) => closed));
  });
});

describe("a slow reader (promise R16)", () => {
  it("is cut off, costs no memory, and delays nobody", async () => {
    const slow = await Promise.all(Array.from({ length: 20 }, () => openRaw()));
    slow.forEach((socket) => socket.pause());
    const fast = await connectPlain(app.url, { token: member.token });
    await fast.sessionId();
    const ends = Promise.all(slow.map((socket) => once(socket, "close")));
    const before = process.memoryUsage().rss;
    const count = 400;
    let slowest = 0;
    for (let at = 1; at <= count; at++) {
      const sent = performance.now();
      const arrives = fast.event((_name, data) => data.at === at);
      stage.hub.emit(toRoom("user", member.id), "events", { at, text: "x".repeat(64 * 1024) });
      await arrives;
      fast.events.length = 0;
      slowest = Math.max(slowest, performance.now() - sent);
    }
    const grown = (process.memoryUsage().rss - before) / 1024 / 1024;
    report("R16", "26 MB to 20 readers that read nothing", { grownMB: grown, slowestMs: slowest });
    expect(grown).toBeLessThan(120);
    expect(slowest).toBeLessThan(2_000);
    slow.forEach((socket) => socket.resume());
    expect(await within(10_000, ends)).toBeDefined();
    fast.close();
  });
});

describe("switched off", () => {
  it("no connection is taken, in a readable answer", async () => {
    const off = await startApp({ env: { ENABLE_WEBSOCKET_SUPPORT: "false" } });
    const answer = await sendRaw(off.url, handshake("/ws"));
    expect(answer.status).toBe(403);
    expect(answer.text).toContain("WebSockets are switched off.");
    expect((await off.call("GET /api/config")).body.features.enable_websocket).toBe(false);
    await off.close();
  });
});
