import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { chatClient, conversation } from "#plugins/chats/chats.fixture.ts";
import { type App, startApp, type TestUser } from "#test/support/app.ts";
import { connectPlain, type PlainClient } from "#test/support/sockets.ts";
import { body as bytes, json, text } from "#test/support/upstream-scripts.ts";
import { startUpstream, type Upstream } from "#test/support/upstream.ts";
import { addFunction, addHostAction, require, runAction, toTexts } from "../functions.fixture.ts";
import type { UserEvent } from "./user-events.ts";

let app: App;
let upstream: Upstream;
let hidden: Upstream;
let admin: TestUser;
let member: TestUser;

/** An open client of the member, which says yes to every question. */
let client: PlainClient;
let session: string;

beforeAll(async () => {
  [upstream, hidden] = await Promise.all([startUpstream(), startUpstream()]);
  upstream.models = ["alpha"];
  app = await startApp({
    env: {
      OPENAI_API_BASE_URLS: upstream.url,
      OPENAI_API_KEYS: "k",
      EGRESS_ALLOWED_PRIVATE_ORIGINS: upstream.origin,
      FUNCTION_FETCH_MAX_BYTES: "2000",
    },
  });
  admin = await app.admin();
  member = await app.user();
  client = await connectPlain(app.url, {
    token: member.token,
    answer: (asked) => ({ answered: toShown(asked) }),
  });
  session = await client.sessionId();
});

afterAll(async () => {
  client?.close();
  await app.close();
  await Promise.all([upstream.close(), hidden.close()]);
});

beforeEach(async () => {
  client.events.length = 0;
  await require(admin.call("POST /api/v1/functions/sync", { functions: [] }));
});

/** What a client shows of an event, without the marks of the server that sent it. */
function toShown({ chat_id, message_id, data }: UserEvent) {
  return { chat_id, message_id, data };
}
const shown = () =>
  client.events.filter(({ event }) => event === "events").map(({ data }) => toShown(data as UserEvent));
const typesShown = () => shown().map(({ data }) => data.type);

const addAction = (id: string, code: string, capabilities: object = {}) =>
  addHostAction(app, { id, code, capabilities });
const act = (id: string, user: TestUser, body: object = {}) => runAction(app, { id, user, body });

describe("host.emit and host.ask", () => {
  it("reach the caller's own clients, with the place of the call", async () => {
    await addAction(
      "talk",
      `await host.emit({ type: "status", data: { done: true } });
      return await host.ask({ type: "confirmation", title: "Sure?" });`,
    );
    const facts = { chat_id: "temporary:c", id: "m", session_id: session };
    const place = { chat_id: "temporary:c", message_id: "m" };
    expect(await act("talk", member, facts)).toEqual({
      answered: {
        ...place,
        data: { type: "confirmation", data: { title: "Sure?", question_id: expect.any(String) } },
      },
    });
    expect(shown()[0]).toEqual({ ...place, data: { type: "status", data: { done: true } } });
  });

  it("leave behind what their type leaves, in the caller's own chat alone", async () => {
    await addAction(
      "keep",
      `host.emit({ type: "status", data: { step: 1 } });
      host.emit({ type: "status", data: { step: 2 } });
      await host.emit({ type: "message", data: { content: " Signed." } });
      await host.emit({ type: "chat:message:delta", data: { content: " Shown." } });
      return await host.emit({ type: "status", data: "nothing" });`,
    );
    const mine = chatClient(app, member.token);
    const { id } = await mine.make(conversation());
    const said = await act("keep", member, { chat_id: id, id: "a1" });
    expect(said).toEqual({ refused: "status is no object." });
    expect((await mine.read(id)).chat.history.messages.a1).toMatchObject({
      content: "reply a1 Signed.",
      statusHistory: [{ step: 1 }, { step: 2 }],
    });
    await expect.poll(typesShown).toEqual(["status", "status", "message", "chat:message:delta"]);
    const call = (chat_id: string) => {
      const body = { model: "guide", messages: [], chat_id, id: "a1" };
      return admin.call("POST /api/chat/actions/keep", body);
    };
    client.events.length = 0;
    const [foreign, unknown] = [await call(id), await call("no-such-chat")];
    expect([foreign.status, foreign.text]).toEqual([404, unknown.text]);
    expect(typesShown()).toEqual([]);
    expect((await mine.read(id)).chat.history.messages.a1.statusHistory.length).toBe(2);
  });

  it("ask nobody else, and nobody when there is no client", async () => {
    await addAction("ask", `return await host.ask({ type: "input", title: "Name?" });`);
    expect(await act("ask", admin, { session_id: session })).toEqual({
      refused: "Client session disconnected.",
    });
    expect((await act("ask", member)).refused).toContain("Nobody can be asked");
  });
});

describe("host.fetch", () => {
  const get = `const answer = await host.fetch(body.url, body.init); return answer;`;
  const host = () => new URL(upstream.origin).host;

  it("reaches a declared host", async () => {
    await addAction("get", get, { fetch: [host()] });
    upstream.reply("/echo", json({ fine: true }));
    const seen = upstream.nextRequest("/echo");
    const init = { method: "POST", headers: { "x-own": "1" }, body: { a: 1 } };
    expect(await act("get", member, { url: `${upstream.origin}/echo`, init })).toMatchObject({
      status: 200,
      ok: true,
      body: '{"fine":true}',
      headers: { "content-type": "application/json" },
    });
    expect(await seen).toMatchObject({ method: "POST", body: { a: 1 }, headers: { "x-own": "1" } });
  });

  it("reaches any port of a host that was declared so", async () => {
    await addAction("get", get, { fetch: ["127.0.0.1:*"] });
    upstream.reply("/port", json({ here: 1 }));
    expect(await act("get", member, { url: `${upstream.origin}/port` })).toMatchObject({
      body: '{"here":1}',
    });
    // Nothing listens there, and nobody asks: any other host stays undeclared.
    const { refused } = await act("get", member, { url: "http://127.0.0.2:1/" });
    expect(refused).toMatch(/did not declare 127\.0\.0\.2/);
  });

  it.each<[string, () => object, () => string, RegExp]>([
    ["without the capability", () => ({}), () => upstream.origin, /did not declare fetch/],
    [
      "to an undeclared host",
      () => ({ fetch: ["example.com"] }),
      () => upstream.origin,
      /did not declare 127/,
    ],
    ["to another port", () => ({ fetch: ["127.0.0.1"] }), () => upstream.origin, /did not declare 127/],
    [
      "to a private address, though declared",
      () => ({ fetch: [new URL(hidden.origin).host] }),
      () => hidden.origin,
      /address|private|not allowed/i,
    ],
    ["to no address", () => ({ fetch: ["x"] }), () => "/etc/passwd", /whole URL/],
  ])("is refused %s", async (_how, capabilities, url, message) => {
    await addAction("get", get, capabilities());
    expect((await act("get", member, { url: url() })).refused).toMatch(message);
    expect(hidden.requests).toEqual([]);
  });

  it("follows no redirect and reads no more than its limit", async () => {
    await addAction("get", get, { fetch: [host()] });
    upstream.reply("/away", async (exchange) => {
      await exchange.start(302, { location: `${hidden.origin}/`, "content-length": "0" });
    });
    expect((await act("get", member, { url: `${upstream.origin}/away` })).refused).toMatch(/redirect/i);
    upstream.reply("/big", bytes("x".repeat(3000)));
    expect(await act("get", member, { url: `${upstream.origin}/big` })).toHaveProperty("refused");
    expect(hidden.requests).toEqual([]);
  });
});

describe("host.complete", () => {
  const ask = `const answer = await host.complete({ model: body.ask, messages: [{ role: "user", content: "Q" }] });
    return answer.choices[0].message.content;`;

  it("asks a model as the caller: what he may not use does not exist", async () => {
    await addAction("ask", ask, { complete: true });
    upstream.reply("/chat/completions", text("An answer"));
    expect(await act("ask", admin, { ask: "alpha" })).toBe("An answer");
    expect(await act("ask", member, { ask: "alpha" })).toEqual({ refused: "Model not found" });
    await addAction("shy", ask);
    expect((await act("shy", admin, { ask: "alpha" })).refused).toContain("did not declare complete");
  });

  it("streams on what a model says, piece by piece", async () => {
    const relay = `export const meta = { capabilities: { complete: true } };
      export async function* pipe(body, { host }) {
        yield "It says: ";
        for await (const chunk of await host.complete({ ...body, model: "alpha", stream: true })) {
          const text = chunk.choices?.[0]?.delta?.content;
          if (text) yield text.toUpperCase();
        } }`;
    await addFunction(app, "relay", relay);
    upstream.reply("/chat/completions", text("one two"));
    const messages = [{ role: "user", content: "Hi" }];
    const body = { model: "relay", messages, stream: true };
    const answer = await require(admin.call("POST /api/chat/completions", body));
    const texts = toTexts(answer.text).filter((piece) => piece !== "");
    expect(texts.join("")).toBe("It says: ONE TWO");
    expect(texts.length).toBeGreaterThan(2);
  });

  it("lets a filter ask a model about what it filters, without asking itself", async () => {
    const filter = `export const meta = { capabilities: { complete: true } };
      export async function inlet(body, { host }) {
        const answer = await host.complete({ model: "alpha", messages: [{ role: "user", content: "Judge this" }] });
        return { ...body, x_verdict: answer.choices[0].message.content }; }`;
    await addFunction(app, "judge", filter, { global: true });
    const marker = `export function inlet(body) { return { ...body, x_marked: true }; }`;
    await addFunction(app, "marker", marker, { global: true });
    upstream.reply("/chat/completions", text("harmless"));
    upstream.reply("/chat/completions", text("ok"));
    const before = upstream.requests.length;
    const messages = [{ role: "user", content: "Hi" }];
    const body = { model: "alpha", messages };
    await require(admin.call("POST /api/chat/completions", body));
    const asked = upstream.requests.slice(before).filter(({ method }) => method === "POST");
    expect(asked.map(({ body: sent }) => [sent.x_verdict, sent.x_marked])).toEqual([
      [undefined, true],
      ["harmless", true],
    ]);
  });

  it("ends functions that ask themselves", async () => {
    const loop = `export const meta = { capabilities: { complete: true } };
      export async function pipe(body, { host }) {
        const answer = await host.complete({ model: "loop", messages: body.messages });
        return answer.choices[0].message.content; }`;
    await addFunction(app, "loop", loop);
    await addAction("ask", ask, { complete: true });
    expect((await act("ask", admin, { ask: "loop" })).refused).toMatch(/at most 8 deep/);
  });
});
