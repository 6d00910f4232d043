import { describe, expect, it } from "vitest";
import type { Principal } from "#kernel/access/principal.ts";
import type { Events } from "#kernel/events.ts";
import { definePlugin } from "#kernel/plugin.ts";
import { events } from "#kernel/services.ts";
import { channelClient } from "#plugins/channels/channels.fixture.ts";
import { permit } from "#plugins/workspace-tools/tools.fixture.ts";
import { type App, startApp, type TestUser } from "#test/support/app.ts";
import { connectPlain } from "#test/support/sockets.ts";
import { decrypt, keys, readVapid } from "./browser-push.fixture.ts";
import type { Target } from "./schema.ts";
import { type Received, type Receiver, startReceiver } from "#test/support/receiver.ts";
import { setUp } from "#test/support/set-up.ts";

const wait = { timeout: 20_000, interval: 50 };

let announcer: Events;
let app: App;
let receiver: Receiver;
let admin: TestUser;
let me: TestUser;
let other: TestUser;

setUp(async (keep) => {
  receiver = await keep(startReceiver());
  const probe = definePlugin({
    id: "probe-test",
    title: "Probe",
    uses: { events },
    setup({ use }) {
      announcer = use.events;
      return {};
    },
  });
  app = await keep(
    startApp({
      plugins: [probe],
      env: {
        ENABLE_CHANNELS: "true",
        ENABLE_USER_WEBHOOKS: "true",
        EGRESS_ALLOWED_PRIVATE_ORIGINS: receiver.url,
      },
    }),
  );
  admin = await app.admin();
  [me, other] = [await app.user(), await app.user()];
  await permit(app, [me, other], { features: { webhooks: true } });
});

const call = (route: string, body?: unknown, { token } = me) => {
  const [method, path] = route.split(" ", 2) as [string, string];
  return app.call(`${method} /api/v1/notifications${path}`, {
    token,
    ...(body === undefined ? {} : { body }),
  });
};
const at = (path: string) => receiver.received.filter((one) => one.path === path);
const announce = (event: Parameters<Events["announce"]>[0], data: object, by = me) =>
  announcer.announce(event, {
    actor: { id: by.id, name: by.name },
    subject: { type: "chat", id: "chat-1" },
    data,
  });
const unbound = { chatId: undefined, messageId: undefined };
const principalOf = ({ id, name, email }: TestUser): Principal => ({
  userId: id,
  name,
  email,
  role: "user",
  groupIds: [],
  permissions: { features: { webhooks: true } },
  credential: "session",
  session: null,
});
const items = async (user = me) => (await call("GET /", undefined, user)).body.items;

describe("the notification centre", () => {
  it("lists a mention, a failed automation and a reply that ended while nobody looked", async () => {
    const [writer, reader] = [channelClient(app, other), channelClient(app, me)];
    const id = await writer.make({ name: "mill", type: "group", user_ids: [me.id] });
    await writer.post(id, `Look here, <@U:${me.id}|Me>!`);
    await writer.post(id, "Nothing for anybody.");
    announce("automation.run_failed", { name: "Morning", user_id: me.id, error: "No model." });
    announce("chat.finished", { title: "Water wheels" });
    await expect.poll(async () => (await items()).length, wait).toBe(3);
    const { body } = await call("GET /");
    expect(body.unread).toBe(3);
    expect(body.items).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          event: "channel.message",
          title: `${other.name} in #mill`,
          phrase: { kind: "in_channel", values: { author: other.name, channel: "mill" } },
          body: "Look here, @Me!",
          path: `/channels/${id}`,
        }),
        expect.objectContaining({
          event: "automation.run_failed",
          title: "Morning",
          body: "No model.",
          path: null,
        }),
        expect.objectContaining({
          event: "chat.finished",
          title: "Water wheels",
          phrase: { kind: "reply_ready", values: {} },
          path: "/c/chat-1",
        }),
      ]),
    );
    expect(await items(other)).toEqual([]);
    expect((await reader.call(`GET /${id}`)).status).toBe(200);
  });

  it("tells administrators of new accounts", async () => {
    const body = { name: "Greta", email: "greta@example.org", password: "a long password" };
    expect((await app.call("POST /api/v1/auths/signup", { body })).status).toBe(200);
    await expect
      .poll(() => items(admin), wait)
      .toMatchObject([
        {
          event: "auth.signup",
          title: "Greta",
          body: "greta@example.org waits for your approval",
          phrase: { kind: "waits", values: { email: "greta@example.org" } },
          path: "/admin/users",
        },
      ]);
  });

  it("shares unread marks between windows, and tells them of what is new", async () => {
    const window = await connectPlain(app.url, { token: me.token });
    await window.sessionId();
    announce("automation.run_failed", { name: "Evening", user_id: me.id, error: "Late." });
    const created = await window.event((_, { data }) => data?.type === "notification:created");
    expect(JSON.stringify(created)).toContain("Evening");
    // With a window open the reply shows itself.
    announce("chat.finished", { title: "Seen at once" });
    const [first] = await items();
    const { unread } = (await call("GET /")).body;
    expect((await call("POST /read", { ids: [first.id] })).body).toEqual({ unread: unread - 1 });
    const read = await window.event((_, { data }) => data?.type === "notification:read");
    expect(JSON.stringify(read)).toContain(first.id);
    expect((await call("POST /read", {})).body).toEqual({ unread: 0 });
    expect((await call("GET /?unread=true")).body.items).toEqual([]);
    expect((await items()).map(({ title }: { title: string }) => title)).not.toContain("Seen at once");
    window.close();
    await window.closed;
  });

  it("keeps to its owner", async () => {
    const [first] = await items();
    expect((await call(`DELETE /${first.id}`, undefined, other)).status).toBe(404);
    expect((await call(`DELETE /${first.id}`, undefined, admin)).status).toBe(404);
    await call("POST /read", { ids: [first.id] }, other);
    expect((await call(`DELETE /${first.id}`)).status).toBe(200);
    expect((await call("DELETE /")).body).toEqual({ unread: 0 });
    expect(await items()).toEqual([]);
  });
});

describe("targets of a person", () => {
  it("get what they ask for, away or always, and show no address", async () => {
    const make = (path: string, form: object) =>
      call("POST /targets", { config: { url: `${receiver.url}/${path}` }, ...form });
    const { body: away } = await make("away-secret-path", { events: ["chat.finished"], delivery: "away" });
    const { body: always } = await make("always", {
      events: ["chat.finished", "chat.failed"],
      delivery: "always",
    });
    expect(away).toMatchObject({ is_default: true, config: { url_masked: `${receiver.url}/…path` } });
    expect(JSON.stringify(away)).not.toContain("secret");
    announce("chat.finished", { title: "Both" });
    await expect.poll(() => [at("/away-secret-path").length, at("/always").length], wait).toEqual([1, 1]);
    expect(at("/always")[0]?.body).toMatchObject({
      schema: "event.v1",
      event: "chat.finished",
      message: "Both: The reply is ready",
    });
    const window = await connectPlain(app.url, { token: me.token });
    await window.sessionId();
    announce("chat.finished", { title: "One" });
    await expect.poll(() => at("/always").length, wait).toBe(2);
    expect(at("/away-secret-path")).toHaveLength(1);
    window.close();
    const shown = async () => (await call("GET /targets")).body as Target[];
    expect((await shown()).map(({ id }) => id).toSorted()).toEqual([away.id, always.id].toSorted());
    expect((await call(`PUT /targets/${always.id}/default`)).body.is_default).toBe(true);
    expect((await shown()).filter((one) => one.is_default).map(({ id }) => id)).toEqual([always.id]);
    expect((await call("GET /events")).body.events).toContain("calendar.alert");
  });

  it("are tested by a button", async () => {
    const always = (await call("GET /targets")).body.find(({ is_default: isDefault }: Target) => isDefault);
    expect((await call(`POST /targets/${always.id}/test`)).body).toEqual({
      success: true,
      status: 200,
      error: null,
    });
    expect(at("/always").at(-1)?.body).toMatchObject({ event: "notification.test" });
    expect((await call(`POST /targets/${always.id}/test`, undefined, other)).status).toBe(404);
    expect((await call(`POST /targets/${always.id}/test`, undefined, admin)).status).toBe(404);
  });

  it("reach no private address, and never more than ten", async () => {
    const refused = await call("POST /targets", { config: { url: "http://169.254.169.254/latest" } }, other);
    expect([refused.status, refused.body.detail]).toEqual([
      400,
      "config.url: private addresses are refused. To allow this one, add http://169.254.169.254 to EGRESS_ALLOWED_PRIVATE_ORIGINS.",
    ]);
    const config = { url: "https://hooks.example.invalid/services/x" };
    for (let count = 0; count < 10; count += 1) {
      expect((await call("POST /targets", { config }, other)).status).toBe(200);
    }
    expect((await call("POST /targets", { config }, other)).status).toBe(400);
  });

  it("need the switch and the permission", async () => {
    const stranger = await app.user();
    expect((await call("GET /targets", undefined, stranger)).status).toBe(403);
    const set = (value: boolean) =>
      admin.call("PATCH /api/v1/configs/settings", { changes: [{ name: "ENABLE_USER_WEBHOOKS", value }] });
    await set(false);
    const off = await call("GET /targets");
    await set(true);
    expect(off.status).toBe(404);
    expect((await call("GET /targets")).status).toBe(200);
  });

  it.each([
    [422, { config: {} }],
    [422, { config: { url: "https://example.org" }, events: ["chat.created"] }],
    [422, { config: { url: "https://example.org" }, delivery: "sometimes" }],
    [422, { type: "email", config: { url: "https://example.org" } }],
    [400, { config: { url: "javascript:alert(1)" } }],
  ])("answer %i to %j", async (status, body) => {
    expect((await call("POST /targets", body)).status).toBe(status);
  });
});

it("lets models reach the default target", async () => {
  const [tool] = app.running.gathered.tools.flatMap(({ entry }) =>
    "spec" in entry && entry.spec.name === "notify" ? [entry] : [],
  );
  const run = (parameters: Record<string, unknown>) =>
    tool?.run(parameters, { ...unbound, principal: principalOf(me), signal: new AbortController().signal });
  expect(await run({ message: "Done", title: "Mill" })).toMatchObject({ success: true });
  expect(at("/always").at(-1)?.body.message).toBe("Mill: Done");
  await expect(run({ message: "" })).rejects.toThrow("message");
});

describe("web push", () => {
  it("hands a message to the push service that only the browser can read, signed for it alone", async () => {
    const { public_key: publicKey } = (await call("GET /push")).body;
    const made = await call("POST /push", { name: "Laptop", endpoint: `${receiver.url}/push/one`, keys });
    expect(made.status).toBe(200);
    expect((await call("POST /push/test")).body).toEqual({ count: 1 });
    await expect.poll(() => at("/push/one").length, wait).toBe(1);
    const post = at("/push/one")[0] as Received;
    expect(post.headers).toMatchObject({ "content-encoding": "aes128gcm", ttl: "86400" });
    expect(decrypt(post.bytes)).toMatchObject({ body: "Notifications reach this browser." });
    const claims = readVapid(String(post.headers.authorization), publicKey);
    expect(claims).toMatchObject({ aud: receiver.url, sub: "mailto:admin@localhost" });
    expect((await call("GET /push")).body.public_key).toBe(publicKey);
    announce("automation.run_failed", { name: "Night", user_id: me.id, error: "Dark." });
    await expect.poll(() => at("/push/one").length, wait).toBe(2);
    expect(decrypt((at("/push/one")[1] as Received).bytes)).toMatchObject({ title: "Night", body: "Dark." });
  });

  it("forgets a browser that is gone", async () => {
    receiver.answer("/push/one", 410);
    await call("POST /push/test");
    await expect.poll(async () => (await call("GET /push")).body.subscriptions, wait).toEqual([]);
  });

  it("is each person's own, and reaches no private address", async () => {
    const endpoint = "http://127.0.0.1:9/push";
    const { body } = await call("POST /push", { endpoint, keys });
    expect((await call(`DELETE /push/${body.id}`, undefined, other)).status).toBe(404);
    expect((await call(`DELETE /push/${body.id}`)).body).toBe(true);
    for (const wrong of [
      { endpoint: "file:///etc/passwd", keys },
      { endpoint, keys: { ...keys, auth: "short" } },
      { endpoint, keys: { ...keys, p256dh: keys.auth } },
    ]) {
      expect((await call("POST /push", wrong)).status).toBeOneOf([400, 422]);
    }
  });

  it("is shown by a service worker that answers no requests", async () => {
    const worker = await app.call("GET /api/v1/notifications/worker.js");
    expect(worker.headers.get("content-type")).toContain("text/javascript");
    expect(worker.text).not.toContain('"fetch"');
  });
});
