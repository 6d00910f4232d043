import { setTimeout as pause } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { chatClient, replied, said } from "#plugins/chats/chats.fixture.ts";
import { addFunction, removeFunction, toTexts } from "#plugins/functions/functions.fixture.ts";
import { type App, startApp, type TestUser } from "#test/support/app.ts";
import { connectPlain } from "#test/support/sockets.ts";
import { completion, textChunks } from "#test/support/upstream-chunks.ts";
import { errorFrame, failure, json, sse, text, tokens } from "#test/support/upstream-scripts.ts";
import { startUpstream, type Upstream } from "#test/support/upstream.ts";
import { type DirectClient, openDirectClient, type Transport } from "./direct.fixture.ts";

let app: App;
/** The member's own, which the platform never calls. */
let own: Upstream;
let instance: Upstream;
let member: TestUser;
const clients: DirectClient[] = [];

beforeAll(async () => {
  own = await startUpstream();
  instance = await startUpstream();
  instance.models = ["alpha", "worker"];
  app = await startApp({
    env: {
      OPENAI_API_BASE_URLS: instance.url,
      OPENAI_API_CONFIGS: JSON.stringify({ 0: { access: "everyone" } }),
      TASK_MODEL_EXTERNAL: "worker",
      ENABLE_DIRECT_CONNECTIONS: "true",
      AIOHTTP_CLIENT_TIMEOUT: "10",
    },
  });
  member = await app.user();
});
afterAll(async () => {
  await app.close();
  await Promise.all([own.close(), instance.close()]);
});
afterEach(() => clients.splice(0).forEach((client) => client.close()));

async function open(transport: Transport = "plain", user = member): Promise<DirectClient> {
  const client = await openDirectClient(app, user.token, { upstream: own, transport });
  clients.push(client);
  return client;
}

const item = { id: "mine", name: "Mine", direct: true, urlIdx: "0", owned_by: "me" };
const question = [{ role: "user", content: "Hi" }];
const complete = (body: object, user = member) =>
  user.call("POST /api/chat/completions", { model: "mine", messages: question, model_item: item, ...body });

describe("a model of a direct connection", () => {
  it.each(["plain", "socket.io"] as const)(
    "answers as a whole, asked by the client over %s",
    async (transport) => {
      const client = await open(transport);
      own.reply("/chat/completions", json(completion("Hello.")));
      const { sessionId } = client;
      const answer = await complete({ session_id: sessionId, temperature: 0.5, metadata: { note: 1 } });
      expect(answer.body).toMatchObject({
        object: "chat.completion",
        model: "mine",
        choices: [{ message: { role: "assistant", content: "Hello." }, finish_reason: "stop" }],
      });
      expect(client.asked).toMatchObject([
        {
          chat_id: null,
          instance_id: expect.any(String),
          data: {
            type: "request:chat:completion",
            data: {
              form_data: { model: "mine", messages: question, temperature: 0.5 },
              model: item,
              session_id: sessionId,
              channel: expect.stringContaining(`${member.id}:${sessionId}:`),
            },
          },
        },
      ]);
      const form = Object.keys(client.asked[0].data.data.form_data);
      expect(form.filter((key) => ["metadata", "model_item", "session_id"].includes(key))).toEqual([]);
    },
  );

  it.each(["plain", "socket.io"] as const)("streams over %s, wherever lines are cut", async (transport) => {
    const client = await open(transport);
    own.reply("/chat/completions", sse(textChunks(["Hel", "lo ", "wörld", "."]), { split: "characters" }));
    const answer = await complete({ session_id: client.sessionId, stream: true });
    expect(answer.status).toBe(200);
    expect(toTexts(answer.text).join("")).toBe("Hello wörld.");
    expect(answer.text).toContain('"model":"mine"');
    expect(answer.text.trimEnd().endsWith("data: [DONE]")).toBe(true);
  });

  it("passes through the filters that hold for everybody", async () => {
    const client = await open();
    const code = `export function inlet(body) { return { ...body, messages: [{ role: "user", content: "Filtered" }] }; }
      export function stream(chunk) {
        const delta = chunk.choices?.[0]?.delta;
        if (delta?.content) delta.content = delta.content.toUpperCase();
        return chunk;
      }`;
    await addFunction(app, "loud", code, { global: true });
    own.reply("/chat/completions", sse(textChunks(["he", "llo"])));
    const answer = await complete({ session_id: client.sessionId, stream: true });
    await removeFunction(app, "loud");
    expect(toTexts(answer.text).join("")).toBe("HELLO");
    expect(client.asked[0].data.data.form_data.messages).toEqual([{ role: "user", content: "Filtered" }]);
  });

  it("answers in a stored chat, whose title it finds itself, and the platform asks no upstream", async () => {
    const client = await open();
    const me = chatClient(app, member.token);
    const messages = {
      q: said("q", "Hi", { childrenIds: ["a"] }),
      a: replied("a", "q", { content: "", done: false }),
    };
    const { id } = await me.make({ title: "New Chat", history: { currentId: "a", messages } });
    own.reply("/chat/completions", sse(textChunks(["Sto", "red."])));
    own.reply("/chat/completions", json(completion('{"title": "Our own"}')));
    const before = instance.requests.length;
    const started = await complete({
      session_id: client.sessionId,
      chat_id: id,
      id: "a",
      stream: true,
      user_message: { id: "q", role: "user", content: "Hi" },
      background_tasks: { title_generation: true },
    });
    expect(started.body).toMatchObject({ status: true, chat_id: id });
    await expect.poll(async () => (await me.read(id)).title, { timeout: 10_000 }).toBe("Our own");
    const stored = await me.read(id);
    expect(stored.chat.history.messages.a).toMatchObject({ content: "Stored.", done: true });
    expect(client.asked.map(({ chat_id, message_id }) => [chat_id, message_id])).toEqual([
      [id, "a"],
      [id, "a"],
    ]);
    expect(instance.requests.slice(before).filter(({ path }) => path.includes("completions"))).toEqual([]);
  });

  it("is counted like every other", async () => {
    const other = await app.user();
    const client = await open("plain", other);
    own.reply("/chat/completions", json(completion("Counted.")));
    await complete({ session_id: client.sessionId }, other);
    const read = () => other.call("GET /api/v1/users/usage");
    await expect
      .poll(async () => JSON.stringify((await read()).body), { timeout: 10_000 })
      .toContain('"mine"');
  });
});

describe("refusals", () => {
  it("without a session, and with a stranger's", async () => {
    const { status, body } = await complete({});
    expect([status, body.detail]).toEqual([400, expect.stringContaining("session_id")]);
    const foreign = await open("plain", await app.user());
    const answer = await complete({ session_id: foreign.sessionId });
    expect([answer.status, answer.body.detail]).toEqual([503, "Client session disconnected."]);
    expect(foreign.asked).toEqual([]);
  });

  it("for a model that the request does not name, or that is not direct", async () => {
    const { sessionId } = await open();
    for (const model_item of [{ ...item, id: "other" }, { ...item, direct: "yes" }, { id: "mine" }]) {
      const { status, body } = await complete({ session_id: sessionId, model_item });
      expect([status, body.detail]).toEqual([404, "Model not found"]);
    }
    const wrong = await complete({ session_id: sessionId, model_item: "mine" });
    expect([wrong.status, wrong.text]).toEqual([400, expect.stringContaining("model_item")]);
  });

  it("while members may have none", async () => {
    const admin = await app.admin();
    const set = (on: boolean) =>
      admin.call("POST /api/v1/configs/connections", { ENABLE_DIRECT_CONNECTIONS: on });
    const client = await open();
    await set(false);
    const { status, body } = await complete({ session_id: client.sessionId });
    await set(true);
    expect([status, body.detail]).toEqual([403, "Direct connections are switched off."]);
    expect(client.asked).toEqual([]);
  });

  it.each([true, false])("of the upstream are told in the client's words (stream: %s)", async (stream) => {
    const { sessionId } = await open();
    own.reply("/chat/completions", failure(500, "broken"));
    const { status, body } = await complete({ session_id: sessionId, stream });
    expect([status, body.detail]).toEqual([502, "The upstream said 500."]);
  });

  it("an error within a stream ends it with a frame", async () => {
    const { sessionId } = await open();
    own.reply("/chat/completions", sse([...textChunks(["Half"]).slice(0, 2), errorFrame("Overloaded")]));
    const { text: frames } = await complete({ session_id: sessionId, stream: true });
    expect(toTexts(frames).join("")).toBe("Half");
    expect(frames).toContain('"error"');
    expect(frames).toContain("Overloaded");
  });

  it("a client that leaves ends its stream with a frame that says so", async () => {
    const client = await open();
    own.reply("/chat/completions", tokens(1000, 10));
    const reading = complete({ session_id: client.sessionId, stream: true });
    await expect.poll(() => client.acknowledged.length).toBeGreaterThan(3);
    client.close();
    const { text: frames } = await reading;
    expect(toTexts(frames).length).toBeGreaterThan(2);
    expect(frames).toContain("Client session disconnected.");
  });

  it("nobody else speaks on a channel, and nobody after its end", async () => {
    const client = await open();
    const stranger = await connectPlain(app.url, { token: (await app.user()).token });
    await stranger.sessionId();
    own.reply("/chat/completions", tokens(50, 10));
    const reading = complete({ session_id: client.sessionId, stream: true });
    await expect.poll(() => client.asked.length).toBe(1);
    const { channel } = client.asked[0].data.data;
    const lie = { choices: [{ index: 0, delta: { content: "LIE" } }] };
    expect(await stranger.emit(channel, lie)).toMatchObject({ code: "not_found" });
    const { text: frames } = await reading;
    expect(toTexts(frames).filter((each) => each !== "")).toHaveLength(50);
    expect(frames).not.toContain("LIE");
    stranger.close();
    await pause(50);
    const again = await connectPlain(app.url, { token: member.token });
    await again.sessionId();
    expect(await again.emit(channel, lie)).toMatchObject({ code: "not_found" });
    again.close();
  });

  it("a stopped run is not waited for, and its client is told with the next piece", async () => {
    const client = await open();
    own.reply("/chat/completions", tokens(1000, 10));
    const stop = new AbortController();
    const asking = fetch(`${app.url}/api/chat/completions`, {
      method: "POST",
      signal: stop.signal,
      headers: { authorization: `Bearer ${member.token}`, "content-type": "application/json" },
      body: JSON.stringify({
        model: "mine",
        messages: question,
        model_item: item,
        session_id: client.sessionId,
        stream: true,
      }),
    });
    await expect.poll(() => client.acknowledged.length).toBeGreaterThan(3);
    stop.abort();
    await asking.catch(() => undefined);
    await expect
      .poll(() => client.acknowledged.some((each) => each?.code === "not_found"), { timeout: 5000 })
      .toBe(true);
    own.always("/chat/completions", text("later"));
  });
});
