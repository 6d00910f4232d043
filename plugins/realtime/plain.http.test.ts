import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { toEnvelope } from "#kernel/sockets/envelope.ts";
import { toRoom } from "#kernel/sockets/rooms.ts";
import { type App, startApp, type TestUser } from "#test/support/app.ts";
import { holdClock, passTime } from "#test/support/clock/held-clock.ts";
import { connectPlain, within } from "#test/support/sockets.ts";
import { makeStage } from "./realtime.fixture.ts";

holdClock();
const { plugin, stage } = makeStage();
let app: App;
let member: TestUser;
let other: TestUser;

beforeAll(async () => {
  app = await startApp({ plugins: [plugin], env: { PLUGINS_DISABLED: "channels" } });
  [member, other] = [await app.user(), await app.user()];
});

afterAll(() => app.close());

const host = () => new URL(app.url).host;

describe("who may connect", () => {
  it("a client that shows a token in the Authorization header", async () => {
    const client = await connectPlain(app.url, { headers: { authorization: `Bearer ${member.token}` } });
    expect(await client.event((name) => name === "session")).toEqual({
      session_id: expect.stringMatching(/^[\w-]{36}$/),
      id: member.id,
      name: member.name,
      instance_id: expect.any(String),
    });
    client.close();
  });

  it("a client whose first frame is a token", async () => {
    const client = await connectPlain(app.url);
    client.send({ type: "auth", id: 7, token: member.token });
    expect(await client.event((name) => name === "session")).toMatchObject({ id: member.id });
    client.close();
  });

  it("a page of this site with the session cookie", async () => {
    const headers = { cookie: `token=${member.token}`, origin: `http://${host()}` };
    const client = await connectPlain(app.url, { headers });
    expect(await client.event((name) => name === "session")).toMatchObject({ id: member.id });
    client.close();
  });

  it.each([
    ["of another site", () => ({ origin: "https://elsewhere.test" })],
    ["of no site", () => ({})],
    ["of a site whose name begins alike", () => ({ origin: `http://${host()}.elsewhere.test` })],
    ["of an opaque site", () => ({ origin: "null" })],
  ])("but a cookie from a page %s counts for nothing", async (_what, headers) => {
    const client = await connectPlain(app.url, {
      headers: { cookie: `token=${member.token}`, ...headers() },
    });
    client.send({ type: "emit", event: "heartbeat" });
    expect(await client.closed).toEqual({ code: 4001, reason: "Not authenticated" });
    expect(client.events).toEqual([]);
  });

  it("nobody with a bad header", async () => {
    const headers = { authorization: "Bearer nonsense" };
    await expect(connectPlain(app.url, { headers })).rejects.toThrow("refused");
  });

  it("nobody with a bad first frame", async () => {
    const client = await connectPlain(app.url, { token: "nonsense" });
    expect(await client.closed).toEqual({ code: 4001, reason: "Not authenticated" });
  });

  it("nobody who says nothing for ten seconds", async () => {
    const begun = Date.now();
    const client = await connectPlain(app.url);
    await passTime(9_000 - (Date.now() - begun));
    expect(await within(100, client.closed)).toBeUndefined();
    await passTime(1_500);
    expect(await client.closed).toEqual({ code: 4001, reason: "Not authenticated" });
  });

  it("no pending account", async () => {
    const pending = await app.user("pending");
    const client = await connectPlain(app.url, { token: pending.token });
    expect(await client.closed).toMatchObject({ code: 4003 });
  });

  it("nobody who speaks before signing in (security case S43)", async () => {
    for (const event of ["ydoc:awareness:update", "ydoc:document:leave", "stage:add", "events:channel"]) {
      const client = await connectPlain(app.url);
      client.send({ type: "emit", id: 1, event, data: { document_id: "note:x" } });
      expect(await client.closed).toMatchObject({ code: 4001 });
    }
  });

  it("a request that is no WebSocket is told so", async () => {
    expect(await app.call("GET /ws")).toMatchObject({ status: 426 });
  });
});

describe("events of clients", () => {
  it("are acknowledged with what their handler returns", async () => {
    const client = await connectPlain(app.url, { token: member.token });
    expect(await client.emit("stage:add", { a: 1, b: 2 })).toEqual({ sum: 3, by: member.id });
    expect(await client.emit("stage:slow")).toBe("done");
    client.send({ type: "emit", id: 900, event: "stage:big" });
    client.close();
  });

  it("fail with a reason that is meant for the client, and with no other", async () => {
    const client = await connectPlain(app.url, { token: member.token });
    expect(await client.emit("stage:add", { a: "x" })).toMatchObject({ code: "unprocessable" });
    expect(await client.emit("stage:none")).toMatchObject({ code: "not_found" });
    expect(await client.emit("stage:fail")).toEqual({
      error: "The server could not do this.",
      code: "unavailable",
    });
    client.close();
  });

  it("rest while their plugin is switched off", async () => {
    const admin = await app.admin();
    const client = await connectPlain(app.url, { token: member.token });
    const set = (enabled: boolean) => admin.call("POST /api/v1/configs/settings", { ENABLE_STAGE: enabled });
    expect((await set(false)).status).toBe(200);
    expect(await client.emit("stage:add", { a: 1, b: 1 })).toMatchObject({ code: "forbidden" });
    expect((await set(true)).status).toBe(200);
    expect(await client.emit("stage:add", { a: 1, b: 1 })).toMatchObject({ sum: 2 });
    client.close();
  });
});

describe("events of the server", () => {
  it("reach every connection of the person and nobody else, in order, with the id of the process", async () => {
    const clients = await Promise.all(
      [member, member, other].map(({ token }) => connectPlain(app.url, { token })),
    );
    await Promise.all(clients.map((client) => client.sessionId()));
    for (let seq = 1; seq <= 100; seq++) {
      const data = { type: "chat:message:delta", data: { content: `ä${seq}` } };
      const envelope = toEnvelope(data, { chatId: "c", messageId: "m", seq });
      stage.hub.emit(toRoom("user", member.id), "events", envelope);
    }
    const [first, second, third] = clients;
    for (const client of [first, second]) {
      await client?.event((_name, data) => data.seq === 100);
      const frames = client?.events.filter(({ event }) => event === "events").map(({ data }) => data);
      expect(frames?.map(({ seq }) => seq)).toEqual(Array.from({ length: 100 }, (_, at) => at + 1));
      expect(frames?.[0]).toEqual({
        chat_id: "c",
        message_id: "m",
        seq: 1,
        instance_id: expect.any(String),
        data: { type: "chat:message:delta", data: { content: "ä1" } },
      });
    }
    expect(third?.events.map(({ event }) => event)).toEqual(["session"]);
    clients.forEach((client) => client.close());
  });

  it("ask one connection and take its answer", async () => {
    const answer = (data: { data: { type: string } }) => ({ said: data.data.type });
    const asked = await connectPlain(app.url, { token: member.token, answer });
    const silent = await connectPlain(app.url, { token: member.token });
    const question = (sessionId: string, userId = member.id) => ({
      userId,
      sessionId,
      event: "events",
      payload: toEnvelope({ type: "confirmation", data: { title: "Sure?" } }),
    });
    expect(await stage.hub.ask(question(await asked.sessionId()))).toEqual({ said: "confirmation" });
    const late = stage.hub.ask(question(await silent.sessionId()), { timeoutMs: 100 });
    await expect(late).rejects.toMatchObject({ code: "timeout" });
    const foreign = stage.hub.ask(question(await asked.sessionId(), other.id));
    await expect(foreign).rejects.toThrow("Client session disconnected.");
    const stopped = stage.hub.ask(question(await silent.sessionId()), { signal: AbortSignal.timeout(50) });
    await expect(stopped).rejects.toThrow(/timeout|aborted/i);
    const leaving = stage.hub.ask(question(await silent.sessionId()));
    silent.close();
    await expect(leaving).rejects.toThrow("Client session disconnected.");
    asked.close();
  });

  it("reach rooms, but not whoever caused them, and not who left", async () => {
    const [one, two] = await Promise.all(
      [member, other].map(({ token }) => connectPlain(app.url, { token })),
    );
    expect(await one?.emit("user-join", { auth: { token: member.token } })).toMatchObject({ id: member.id });
    expect(await two?.emit("join-channels")).toBe(true);
    const typing = { channel_id: "everybody", data: { type: "typing", data: { typing: true } } };
    expect(await one?.emit("events:channel", typing)).toBe(true);
    expect(await two?.event((name) => name === "events:channel")).toEqual({
      ...typing,
      message_id: null,
      instance_id: expect.any(String),
      user: { id: member.id, name: member.name, role: "user" },
      channel: { id: "everybody" },
    });
    expect(one?.events.some(({ event }) => event === "events:channel")).toBe(false);
    expect(await one?.emit("events:channel", { ...typing, channel_id: "secret" })).toMatchObject({
      code: "not_found",
    });
    stage.hub.leave(other.id, toRoom("channel", "everybody"));
    stage.hub.emit(toRoom("channel", "everybody"), "events:channel", { after: true });
    await one?.event((_name, data) => data.after === true);
    expect(
      await within(
        100,
        two!.event((_name, data) => data.after === true),
      ),
    ).toBeUndefined();
    [one, two].forEach((client) => client?.close());
  });
});

describe("activity", () => {
  it("shows models in use for three seconds and who is here", async () => {
    const client = await connectPlain(app.url, { token: member.token });
    await client.emit("usage", { model: "alpha" });
    const look = async () => (await other.call("GET /api/usage")).body;
    expect(await look()).toEqual({ model_ids: ["alpha"], user_count: expect.any(Number) });
    expect((await look()).user_count).toBeGreaterThan(0);
    await passTime(4_200);
    expect((await look()).model_ids).toEqual([]);
    client.close();
  });

  it("notes what was read", async () => {
    const client = await connectPlain(app.url, { token: member.token });
    // Whoever keeps the marks of a kind says whether the caller may leave one.
    const chat = await client.emit("events:chat", { chat_id: "c1", data: { type: "last_read_at" } });
    expect(chat).toMatchObject({ code: "not_found" });
    expect(await client.emit("events:channel", { channel_id: "k1", data: { type: "last_read_at" } })).toBe(
      true,
    );
    expect(stage.marks).toContainEqual({ kind: "channel", user: member.id, id: "k1" });
    client.close();
  });
});
