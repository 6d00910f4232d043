import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { toEnvelope } from "#kernel/sockets/envelope.ts";
import { toRoom } from "#kernel/sockets/rooms.ts";
import { type App, startApp, type TestUser } from "#test/support/app.ts";
import { makeStage } from "../realtime.fixture.ts";
import { followStream } from "./stream-client.fixture.ts";

const { plugin, stage } = makeStage();
let app: App;
let member: TestUser;
let other: TestUser;

beforeAll(async () => {
  app = await startApp({
    plugins: [plugin],
    env: { PLUGINS_DISABLED: "channels", ENABLE_WEBSOCKET_SUPPORT: "false" },
  });
  [member, other] = [await app.user(), await app.user()];
});
afterAll(() => app.close());

const tell = (user: TestUser, text: string) =>
  stage.hub.emit(toRoom("user", user.id), "events", toEnvelope({ type: "note", data: text }));
const says = (text: string) => (frame: { data?: { data?: { data?: unknown } } }) =>
  frame.data?.data?.data === text;
const emit = (token: string, sessionId: string, frames: readonly object[]) =>
  app.call("POST /api/v1/events/emit", { token, body: { session_id: sessionId, frames } });
const poll = (token: string, query: string) => app.call(`GET /api/v1/events/poll?${query}`, { token });

describe("a stream of events, with WebSockets switched off", () => {
  it("begins with the session and carries the frames of the plain WebSocket", async () => {
    const client = await followStream(app.url, member);
    const id = await client.sessionId();
    expect(await client.frame(({ event }) => event === "session")).toMatchObject({
      data: { session_id: id, id: member.id, name: member.name },
    });
    tell(other, "not for you");
    tell(member, "for you");
    expect(await client.frame(says("for you"))).toMatchObject({ type: "event", event: "events" });
    expect(client.frames.some(says("not for you"))).toBe(false);
    client.close();
  });

  it("answers what is emitted, and asks what the server asks", async () => {
    const client = await followStream(app.url, member);
    const id = await client.sessionId();
    const sent = await emit(member.token, id, [
      { type: "emit", id: 7, event: "stage:add", data: { a: 1, b: 2 } },
    ]);
    expect(sent.status).toBe(200);
    expect(await client.frame((frame) => frame.type === "ack" && frame.id === 7)).toMatchObject({
      data: { sum: 3, by: member.id },
    });
    const answer = stage.hub.ask({
      userId: member.id,
      sessionId: id,
      event: "events",
      payload: toEnvelope({ type: "input", data: {} }),
    });
    const question = await client.frame((frame) => frame.type === "event" && frame.id !== undefined);
    await emit(member.token, id, [{ type: "ack", id: question.id, data: "forty-two" }]);
    expect(await answer).toBe("forty-two");
    client.close();
  });

  it("goes on where it was cut, with nothing missing and nothing twice", async () => {
    const first = await followStream(app.url, member);
    const id = await first.sessionId();
    tell(member, "one");
    await first.frame(says("one"));
    first.close();
    await first.ended;
    tell(member, "two");
    const next = await followStream(app.url, member, { sessionId: id, after: first.last });
    expect(await next.sessionId()).toBe(id);
    tell(member, "three");
    await next.frame(says("three"));
    expect(next.frames.map((frame) => frame.data.data.data)).toEqual(["two", "three"]);
    next.close();
  });

  it("can be fetched now and then instead", async () => {
    const begun = await poll(member.token, "");
    const { session_id: id, after } = begun.body;
    expect(begun.body.frames[0]).toMatchObject({ event: "session", data: { session_id: id } });
    tell(member, "by and by");
    const waited = poll(member.token, `session_id=${id}&after=${after}&wait=20`);
    const got = await waited;
    expect(got.body.frames.filter(says("by and by"))).toHaveLength(1);
    // What is not confirmed comes again.
    const again = await poll(member.token, `session_id=${id}&after=${after}`);
    expect(again.body.frames.filter(says("by and by"))).toHaveLength(1);
    const rest = await poll(member.token, `session_id=${id}&after=${got.body.after}`);
    expect(rest.body).toMatchObject({ session_id: id, frames: [] });
  });
});

describe("the rights of a stream", () => {
  it("are those of the person: strangers and pending accounts have none", async () => {
    expect((await app.call("GET /api/v1/events")).status).toBe(401);
    const pending = await app.user("pending");
    await expect(followStream(app.url, pending)).rejects.toThrow("refused with 403");
  });

  it("end at another person: a foreign session is one that is not there", async () => {
    const client = await followStream(app.url, member);
    const id = await client.sessionId();
    expect((await emit(other.token, id, [{ type: "emit", event: "heartbeat" }])).status).toBe(404);
    const polled = await poll(other.token, `session_id=${id}&after=0`);
    expect(polled.body.session_id).not.toBe(id);
    expect(JSON.stringify(polled.body)).not.toContain(member.id);
    client.close();
  });

  it("end with the session of the account", async () => {
    const leaver = await app.user();
    const client = await followStream(app.url, leaver);
    await client.sessionId();
    expect(stage.hub.isHere(leaver.id)).toBe(true);
    await leaver.call("POST /api/v1/auths/signout");
    await client.ended;
    await expect.poll(() => stage.hub.isHere(leaver.id)).toBe(false);
  });

  it("are as narrow as those of a WebSocket: an event that needs a room is refused outside of it", async () => {
    const client = await followStream(app.url, member);
    const id = await client.sessionId();
    const data = { channel_id: "none", data: { type: "typing" } };
    await emit(member.token, id, [{ type: "emit", id: 1, event: "events:channel", data }]);
    expect(await client.frame((frame) => frame.type === "ack" && frame.id === 1)).toMatchObject({
      data: { code: "not_found" },
    });
    client.close();
  });
});
