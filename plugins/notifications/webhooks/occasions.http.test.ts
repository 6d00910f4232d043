import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openCodeApp, openSteps } from "#plugins/mfa/mfa.fixture.ts";
import { indexFile } from "#plugins/retrieval/client.fixture.ts";
import {
  Client,
  connect,
  entryOf,
  everyone,
  makeChat,
  makeSession,
} from "#plugins/terminals/terminals.fixture.ts";
import { type App, startApp, type TestUser } from "#test/support/app.ts";
import { type Received, type Receiver, startReceiver } from "#test/support/receiver.ts";
import { type Runtime, startRuntime } from "#test/support/runtime.ts";
import { startTerminalServer, type TerminalServer } from "#test/support/terminal/server.ts";
import { failure, json, jsonLines } from "#test/support/upstream-scripts.ts";
import { startUpstream, type Upstream } from "#test/support/upstream.ts";

// Events of appendix A10 that come from far away, each on its real occasion, at a webhook that hears of everything.

const wait = { timeout: 60_000, interval: 50 };

let app: App;
let admin: TestUser;
let receiver: Receiver;
let upstream: Upstream;
let runtime: Runtime;
let box: TerminalServer;

beforeAll(async () => {
  [receiver, upstream, runtime, box] = await Promise.all([
    startReceiver(),
    startUpstream(),
    startRuntime(["llama3:latest"]),
    startTerminalServer(),
  ]);
  upstream.models = ["alpha"];
  app = await startApp({
    env: {
      EGRESS_ALLOWED_PRIVATE_ORIGINS: receiver.url,
      OPENAI_API_BASE_URLS: upstream.url,
      OLLAMA_BASE_URLS: runtime.origin,
      ENABLE_CHANNELS: "true",
      ENABLE_NOTES: "true",
    },
  });
  admin = await app.admin();
  await admin.call("GET /api/models?refresh=true");
  const hook = { name: "all", url: `${receiver.url}/all`, events: ["*"] };
  await call("POST /api/events/webhooks", hook);
});
afterAll(async () => {
  await app?.close();
  await Promise.all([receiver?.close(), upstream?.close(), runtime?.close(), box?.close()]);
});

async function call(route: string, body?: unknown) {
  const answer = await app.call(route, { token: admin.token, ...(body === undefined ? {} : { body }) });
  expect([route, answer.status, answer.text]).toEqual([route, 200, expect.any(String)]);
  return answer.body;
}
const named = (event: string) =>
  receiver.received.filter(({ body }: Received) => body.event === event).map(({ body }) => body);
/** Waits for an event that fits. */
const heard = (event: string, fits: object = {}) =>
  expect.poll(() => named(event), { ...wait, message: event }).toContainEqual(expect.objectContaining(fits));

describe("events of messages", () => {
  it("tell of posts in channels, and of questions and replies in chats", async () => {
    const channel = await call("POST /api/v1/channels/create", { name: "mill", access_grants: [] });
    const post = await call(`POST /api/v1/channels/${channel.id}/messages/post`, { content: "Grind" });
    await heard("message.created", {
      actor: expect.objectContaining({ id: admin.id }),
      subject: { type: "message", id: post.id },
      data: expect.objectContaining({ channel_id: channel.id }),
    });
    const chatId = await makeChat(app, admin);
    const message = { id: "q-1", role: "user", content: "Hi", parentId: null, childrenIds: [] };
    const chat = { history: { messages: { "q-1": message }, currentId: "q-1" } };
    await call(`POST /api/v1/chats/${chatId}`, { chat });
    await heard("message.created", {
      subject: { type: "chat", id: chatId },
      data: { message_id: "q-1", role: "user" },
    });
    upstream.always("/chat/completions", json({ choices: [] }));
    await call("POST /api/chat/completions", {
      model: "alpha",
      stream: true,
      chat_id: chatId,
      id: "a-2",
      session_id: "s",
      user_message: { id: "q-2", role: "user", content: "And?", parentId: "q-1" },
      messages: [{ role: "user", content: "And?" }],
    });
    for (const [id, role] of [
      ["q-2", "user"],
      ["a-2", "assistant"],
    ]) {
      await heard("message.created", {
        subject: { type: "chat", id: chatId },
        data: { message_id: id, role },
      });
    }
    expect(named("message.created").filter(({ data }) => data.message_id === "q-1")).toHaveLength(1);
  });

  it("tell of notes that are pinned and shared", async () => {
    const note = await call("POST /api/v1/notes/create", { title: "Flour", data: { content: { md: "x" } } });
    const fits = { subject: { type: "note", id: note.id } };
    await call(`POST /api/v1/notes/${note.id}/pin`);
    await heard("note.pinned", fits);
    await call(`POST /api/v1/notes/${note.id}/pin`);
    await heard("note.unpinned", fits);
    await call(`POST /api/v1/notes/${note.id}/access/update`, { access_grants: [] });
    await heard("note.access_updated", fits);
  });
});

describe("events of models", () => {
  it("tell of failed requests, with what the upstream said", async () => {
    upstream.reply("/chat/completions", failure(429, "Slow down"));
    const body = { model: "alpha", messages: [{ role: "user", content: "Hi" }] };
    expect((await admin.call("POST /api/chat/completions", body)).status).toBe(429);
    await heard("model.provider_request.failed", {
      actor: expect.objectContaining({ id: admin.id, name: admin.name }),
      subject: { type: "model", id: "alpha" },
      data: expect.objectContaining({
        provider: "common",
        connection: "0",
        wire: "chat",
        status: 429,
        error: expect.stringContaining("Slow down"),
      }),
    });
  });

  it("tell of connections, without addresses and keys", async () => {
    const config = { OPENAI_API_BASE_URLS: [upstream.url], OPENAI_API_KEYS: ["sk-secret-of-it"] };
    await call("POST /compat/config/update", config);
    await call("POST /runtime/config/update", { OLLAMA_BASE_URLS: [runtime.origin] });
    await call("POST /api/v1/configs/connections", { ENABLE_BASE_MODELS_CACHE: false });
    await heard("model.provider_config.updated", { data: { connections: 1 } });
    await heard("model.provider_config.updated", { data: { backends: 1 } });
    await heard("config.connections.updated", { data: { names: ["ENABLE_BASE_MODELS_CACHE"] } });
    expect(JSON.stringify(receiver.received.map(({ text }) => text))).not.toContain("sk-secret-of-it");
  });

  it("tell of models that the runtime gets and loses, not of those that never arrive", async () => {
    runtime.always("/api/pull", jsonLines([{ status: "pulling" }, { status: "success" }]));
    runtime.always("/api/delete", json({}));
    await call("POST /runtime/api/pull", { model: "never" });
    runtime.held = ["llama3:latest", "wheat:latest"];
    await call("POST /runtime/api/pull", { model: "wheat" });
    const fits = {
      subject: { type: "model", id: "wheat:latest" },
      data: { name: "wheat:latest", backend: 0 },
    };
    await heard("model.provider_model.created", fits);
    await admin.call("DELETE /runtime/api/delete", { model: "wheat" });
    await heard("model.provider_model.deleted", fits);
    expect(named("model.provider_model.created")).toHaveLength(1);
  });
});

it("events of retrieval tell of texts, collections and resets", async () => {
  const file = await indexFile(app, admin.token, ["wheat.md", "Wheat is ground between two stones."]);
  await heard("retrieval.content.processed", {
    subject: { type: "file", id: file },
    data: { name: "wheat.md", url: null, characters: 35 },
  });
  const { id } = await call("POST /api/v1/knowledge/create", { name: "Mills", description: "" });
  await call(`POST /api/v1/knowledge/${id}/file/add`, { file_id: file });
  const directory = await call(`POST /api/v1/knowledge/${id}/dirs/create`, { name: "old" });
  await heard("knowledge.directory.created", { data: expect.objectContaining({ name: "old" }) });
  await call(`POST /api/v1/knowledge/${id}/dirs/${directory.id}/update`, { name: "new" });
  await heard("knowledge.directory.updated", { data: expect.objectContaining({ name: "new" }) });
  await call(`DELETE /api/v1/knowledge/${id}/dirs/${directory.id}/delete`);
  await heard("knowledge.directory.deleted");
  await call(`DELETE /api/v1/knowledge/${id}/delete`);
  await heard("retrieval.collection.deleted", { subject: { type: "collection", id } });
  await call("POST /api/v1/retrieval/reset/db");
  await call("POST /api/v1/retrieval/reset/uploads");
  await heard("retrieval.vector_db.reset", { actor: expect.objectContaining({ id: admin.id }) });
  await heard("retrieval.uploads.reset");
  expect(JSON.stringify(named("retrieval.content.processed"))).not.toContain("two stones");
});

it("events of terminals tell of servers, and of sessions that open and close", async () => {
  expect((await connect(app, entryOf(box, { config: everyone }))).status).toBe(200);
  await heard("config.terminal_servers.updated", { data: { servers: 1 } });
  const session = await makeSession(app, admin);
  const shell = await Client.open(app, session, admin.token);
  const fits = { subject: { type: "terminal_session", id: session } };
  await heard("terminal.session.opened", { ...fits, data: { terminal_id: "box", chat_id: null } });
  expect(named("terminal.session.closed")).toEqual([]);
  shell.socket.close();
  await heard("terminal.session.closed", fits);
});

it("events of the second factor tell of its steps", async () => {
  const steps = openSteps(app);
  const person = await app.user();
  await call("POST /api/v1/auths/admin/config/mfa", { ENABLE_MFA: true, MFA_REQUIRED_ROLES: ["user"] });
  const about = { subject: { type: "user", id: person.id } };
  const { codes, token, recovery } = await steps.enrol(person);
  await heard("auth.mfa.enabled", { ...about, data: expect.objectContaining({ factor: "totp" }) });
  const begin = async () => (await steps.signIn(person.email)).body.challenge_token as string;
  const challenge = await begin();
  await heard("auth.mfa.challenge.started", { ...about, data: expect.objectContaining({ step: "verify" }) });
  const verify = async (challenge_token: string, code: string) =>
    (await steps.post("mfa/verify", { challenge_token, code })).status;
  expect(await verify(challenge, openCodeApp("A".repeat(32)).code(-9))).toBe(400);
  await heard("auth.mfa.challenge.failed", { ...about, data: expect.objectContaining({ step: "verify" }) });
  expect(await verify(challenge, codes.code())).toBe(200);
  await heard("auth.mfa.challenge.verified", { ...about, data: expect.objectContaining({ step: "verify" }) });
  expect(await verify(await begin(), recovery[0] as string)).toBe(200);
  await heard("auth.mfa.recovery_code.used", about);
  expect((await app.call("POST /api/v1/auths/mfa/recovery_codes", { token })).status).toBe(200);
  await heard("auth.mfa.recovery_codes.regenerated", about);
  await call(`POST /api/v1/auths/mfa/accounts/${person.id}/reset`, { reason: "lost phone" });
  await heard("auth.mfa.factor.reset", { ...about, actor: expect.objectContaining({ id: admin.id }) });
});

it("refuses a webhook for events that never come, and leaves them out of the catalogue", async () => {
  for (const events of [
    ["knowledge.external_connection.created"],
    ["*", "knowledge.external_connection.*"],
  ]) {
    const { status, text } = await admin.call("POST /api/events/webhooks", {
      name: "x",
      url: receiver.url,
      events,
    });
    expect([status, text]).toEqual([422, expect.stringContaining("has no connections to external sources")]);
  }
  const names = (await call("GET /api/events")).map(({ event }: { event: string }) => event);
  expect(names).toContain("retrieval.content.processed");
  expect(names.filter((name: string) => name.includes("external_connection"))).toEqual([]);
});
