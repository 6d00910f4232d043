// Takes long: a webhook that fails is tried again after seconds by the queue in the database.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { signWebhook } from "#kernel/webhook-signature.ts";
import { type App, startApp, type TestUser } from "#test/support/app.ts";
import { deliveryJob } from "./deliveries/deliveries.ts";
import { type Received, type Receiver, startReceiver } from "#test/support/receiver.ts";

const wait = { timeout: 20_000, interval: 50 };

let app: App;
let admin: TestUser;
let receiver: Receiver;
let operator: Receiver;

beforeAll(async () => {
  [receiver, operator] = await Promise.all([startReceiver(), startReceiver()]);
  app = await startApp({
    env: { WEBHOOK_URL: `${operator.url}/operator`, EGRESS_ALLOWED_PRIVATE_ORIGINS: receiver.url },
  });
  admin = await app.admin();
});
afterAll(async () => {
  await app?.close();
  await Promise.all([receiver?.close(), operator?.close()]);
});

const call = (route: string, body?: unknown, token = admin.token) => {
  const [method, path] = route.split(" ", 2) as [string, string];
  return app.call(`${method} /api/events${path}`, { token, ...(body === undefined ? {} : { body }) });
};
async function make(path: string, form: object) {
  const { status, body, text } = await call("POST /webhooks", {
    name: path,
    url: `${receiver.url}/${path}`,
    ...form,
  });
  expect([status, text]).toEqual([200, expect.any(String)]);
  return body;
}
const at = (path: string) => receiver.received.filter((one) => one.path === `/${path}`);
const folder = (name: string, token = admin.token) =>
  app.call("POST /api/v1/folders/", { token, body: { name } });
const deliveriesOf = async (id: string) => (await call(`GET /webhooks/${id}/deliveries`)).body;

describe("WEBHOOK_URL", () => {
  it("hears of starts and new accounts, and may be private since the environment names it", async () => {
    const form = { name: "Greta", email: "greta@example.org", password: "a long password" };
    expect((await app.call("POST /api/v1/auths/signup", { body: form })).status).toBe(200);
    await expect
      .poll(() => operator.received.map(({ body }) => body.event), wait)
      .toEqual(expect.arrayContaining(["system.startup.completed", "auth.signup"]));
    const told = () => operator.received.find(({ body }) => body.actor?.name === "Greta")?.body;
    await expect.poll(told, wait).toMatchObject({
      event: "auth.signup",
      resource: "auth",
      operation: "signup",
      message: "New account: Greta <greta@example.org>",
      subject: { type: "user" },
    });
    expect(operator.received.every(({ path }) => path === "/operator")).toBe(true);
    await folder("not for the operator");
    const events = (await deliveriesOf("environment")).map(({ event }: { event: string }) => event);
    expect(events).toContain("auth.signup");
    expect(events).not.toContain("folder.created");
  });
});

describe("event webhooks", () => {
  it("sends what a pattern takes, signed, once", async () => {
    const hook = await make("signed", { events: ["folder.*"] });
    await folder("Signed");
    await expect.poll(() => at("signed").length, wait).toBe(1);
    const { headers, text, body } = at("signed")[0] as Received;
    expect(body).toMatchObject({
      schema: "event.v1",
      event: "folder.created",
      actor: { id: admin.id },
      data: { name: "Signed" },
    });
    const id = String(headers["webhook-id"]);
    const expected = signWebhook(text, { id, secret: hook.secret, at: Number(headers["webhook-timestamp"]) });
    expect(headers).toMatchObject(expected);
    await expect
      .poll(() => deliveriesOf(hook.id), wait)
      .toMatchObject([{ id, status: "delivered", attempts: 1, last_status: 200, last_error: null }]);
  });

  it("shows neither address nor secret again, and keeps the address that comes back masked", async () => {
    const hook = await make("a-long-secret-path", { events: ["note.created"] });
    const [shown] = (await call("GET /webhooks")).body.filter(({ id }: { id: string }) => id === hook.id);
    expect(shown.url).toBe(`${receiver.url}/…path`);
    expect(shown.secret).toBeUndefined();
    const changed = await call(`PUT /webhooks/${hook.id}`, {
      url: shown.url,
      name: "Renamed",
      events: ["folder.created"],
    });
    expect(changed.body).toMatchObject({ name: "Renamed", url: shown.url });
    await folder("Masked");
    await expect.poll(() => at("a-long-secret-path").length, wait).toBe(1);
    const renewed = (await call(`POST /webhooks/${hook.id}/secret`)).body.secret;
    expect(renewed).toMatch(/^whsec_/);
    expect(renewed).not.toBe(hook.secret);
    expect((await call(`DELETE /webhooks/${hook.id}`)).body).toBe(true);
    expect((await call(`GET /webhooks/${hook.id}/deliveries`)).status).toBe(404);
  });

  it("tries again while the address fails, and says so in the log", async () => {
    const hook = await make("failing", { events: ["folder.created"] });
    receiver.answer("/failing", 503);
    await folder("Failing");
    await expect
      .poll(() => deliveriesOf(hook.id), wait)
      .toMatchObject([{ status: "pending", attempts: 1, last_status: 503 }]);
    await expect
      .poll(() => deliveriesOf(hook.id), { ...wait, timeout: 40_000 })
      .toMatchObject([{ status: "delivered", attempts: 2, last_status: 200 }]);
    const ids = at("failing").map(({ headers }) => headers["webhook-id"]);
    expect(new Set(ids).size).toBe(1);
    await call(`DELETE /webhooks/${hook.id}`);
  });

  it("gives up where trying again is no use, follows no redirect, and sends again when asked", async () => {
    const hook = await make("refusing", { events: ["folder.created"] });
    receiver.answer("/refusing", 302);
    await folder("Refusing");
    await expect.poll(() => deliveriesOf(hook.id), wait).toMatchObject([{ status: "failed", attempts: 1 }]);
    expect(at("elsewhere")).toEqual([]);
    const [{ id }] = await deliveriesOf(hook.id);
    expect((await call(`POST /webhooks/${hook.id}/deliveries/${id}/retry`)).body).toBe(true);
    await expect.poll(() => deliveriesOf(hook.id), wait).toMatchObject([{ id, status: "delivered" }]);
    expect((await call(`POST /webhooks/${hook.id}/deliveries/${id}/retry`)).status).toBe(404);
    await call(`DELETE /webhooks/${hook.id}`);
  });

  it("sends only what concerns its people and groups", async () => {
    const [one, other, third] = await Promise.all([app.user(), app.user(), app.user()]);
    const group = (await admin.call("POST /api/v1/groups/create", { name: "Crew", description: "" })).body;
    await admin.call(`POST /api/v1/groups/id/${group.id}/users/add`, { user_ids: [other.id] });
    const targets = [
      { type: "user", id: one.id },
      { type: "group", id: group.id },
    ];
    const hook = await make("targets", { events: ["folder.created"], targets, form: "slack" });
    await folder("third", third.token);
    await folder("one", one.token);
    await folder("other", other.token);
    await expect.poll(() => at("targets").length, wait).toBe(2);
    const names = at("targets").map(({ body }) => String(body.text).split(" by ")[1]);
    expect(names.toSorted()).toEqual([one.name, other.name].toSorted());
    await call(`DELETE /webhooks/${hook.id}`);
  });

  it("never reaches private addresses that the environment does not allow", async () => {
    const urls = [
      operator.url,
      "http://169.254.169.254/latest",
      "http://[::1]:1/",
      "http://[::ffff:7f00:1]/",
      "http://0.0.0.0/",
    ];
    for (const url of urls) {
      const refused = await call("POST /webhooks", { name: "inside", url, events: ["user.deleted"] });
      expect(refused.status, url).toBe(400);
      expect(refused.body.detail).toBe(
        `url: private addresses are refused. To allow this one, add ${new URL(url).origin} to EGRESS_ALLOWED_PRIVATE_ORIGINS.`,
      );
    }
    expect(operator.received.filter(({ body }) => body.event === "notification.test")).toEqual([]);
  });

  it("posts a test at once", async () => {
    const hook = await make("test", { events: ["user.deleted"], form: "discord" });
    expect((await call(`POST /webhooks/${hook.id}/test`)).body).toEqual({
      success: true,
      status: 200,
      error: null,
    });
    expect(at("test")[0]?.body.content).toContain("notification.test");
    receiver.answer("/test", 500);
    expect((await call(`POST /webhooks/${hook.id}/test`)).body).toMatchObject({
      success: false,
      status: 500,
    });
  });

  it("does not send what was queued for a webhook that was switched off meanwhile", async () => {
    const hook = await make("off", { events: ["folder.created"] });
    const job = app.running.gathered.jobs.find((owned) => owned.job.id === deliveryJob)?.job;
    receiver.answer("/off", 503);
    await folder("Off");
    await expect.poll(() => deliveriesOf(hook.id), wait).toMatchObject([{ status: "pending", attempts: 1 }]);
    await call(`PUT /webhooks/${hook.id}`, { enabled: false });
    const [{ id }] = await deliveriesOf(hook.id);
    await job?.run({ id }, { signal: new AbortController().signal });
    expect(await deliveriesOf(hook.id)).toMatchObject([
      { status: "failed", last_error: "The webhook is switched off or gone." },
    ]);
    expect(at("off")).toHaveLength(1);
  });
});

describe("the routes of event webhooks", () => {
  it("list the catalogue", async () => {
    const { body } = await call("GET /");
    expect(body).toContainEqual({ event: "chat.finished", resource: "chat", operation: "finished" });
  });

  it("are for administrators alone", async () => {
    const { token } = await app.user();
    for (const route of ["GET /webhooks", "GET /", "POST /webhooks/x/test", "DELETE /webhooks/x"]) {
      expect((await call(route, undefined, token)).status).toBe(403);
    }
  });

  it.each([
    ["name", { name: "" }],
    ["url", { url: "" }],
    ["events", { events: [] }],
    ["events", { events: ["chats.*"] }],
    ["targets", { targets: [{ type: "role", id: "x" }] }],
    ["form", { form: "irc" }],
  ])("refuse a wrong %s and name it", async (field, wrong) => {
    const form = { name: "x", url: "https://example.org", events: ["*"], ...wrong };
    const { status, text } = await call("POST /webhooks", form);
    expect([status, text]).toEqual([422, expect.stringContaining(field)]);
  });

  it("refuse what is no web address", async () => {
    for (const url of ["ftp://example.org", "example.org", "javascript:alert(1)"]) {
      const { status, text } = await call("POST /webhooks", { name: "x", url, events: ["*"] });
      expect([status, text]).toEqual([400, expect.stringContaining("url: ")]);
    }
  });
});
