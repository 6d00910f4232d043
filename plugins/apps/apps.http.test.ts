import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Receiver, startReceiver } from "#test/support/receiver.ts";
import { allScopes, startAppStage } from "./apps.fixture.ts";

const stage = await startAppStage();
const { app, admin, person, apps, receiver, boss, people, at, group, helper, as } = stage;
let other: Receiver;

beforeAll(async () => {
  other = await startReceiver();
});
afterAll(async () => {
  await stage.close();
  await other?.close();
});

describe("bots", () => {
  it("are no people: no list, no sign-in, no group, no grant, no direct channel", async () => {
    const made = await apps.register({ name: "Zebra bot" });
    expect((await person.call("GET /api/v1/users/search?query=Zebra")).body.users).toEqual([]);
    const all = await admin.call("GET /api/v1/users/all");
    expect(all.text).not.toContain(made.user_id);
    const signIn = await app.call("POST /api/v1/auths/signin", {
      body: { email: `${made.user_id}@bot.invalid`, password: "Correct-horse-1" },
    });
    expect(signIn.status).toBe(400);
    const toAdmin = await admin.call(`POST /api/v1/users/${made.user_id}/update`, {
      role: "admin",
      password: "Correct-horse-1",
    });
    expect(toAdmin.status).toBe(404);
    expect((await admin.call(`DELETE /api/v1/users/${made.user_id}`)).status).toBe(404);
    expect((await people.call(`GET /users/${made.user_id}`)).status).toBe(404);
    const crew = await admin.call("POST /api/v1/groups/create", { name: "Bots", description: "" });
    const joined = await admin.call(`POST /api/v1/groups/id/${crew.body.id}/users/add`, {
      user_ids: [made.user_id],
    });
    expect(joined.status).toBe(400);
    const channel = await boss.make({ name: "without", type: "group", user_ids: [made.user_id] });
    expect((await as(made.api_key)(`GET /channels/${channel}`)).status).toBe(404);
  });

  it("are members of their channels, with a mark and the app's picture", async () => {
    const avatar = `data:image/png;base64,${Buffer.from("\u0089PNG\r\n\u001a\n", "latin1").toString("base64")}`;
    const made = await apps.register({ name: "Painter", avatar });
    const channel = await group("marked");
    await apps.install(channel, made.id);
    const { body } = await people.call(`GET /${channel}/members?query=Paint`);
    expect(body.users).toMatchObject([{ id: made.user_id, name: "Painter", is_app: true }]);
    const picture = await person.call(`GET ${body.users[0].profile_image_url}`);
    expect(picture.headers.get("content-type")).toBe("image/png");
    const seen = await apps.call(`GET /channels/${channel}`, undefined, person.token);
    expect(seen.body).toMatchObject({ installed: [{ id: made.id }], available: [], is_manager: false });
    expect((await apps.install(channel, made.id, person.token)).status).toBe(403);
  });

  it("leave their words behind, with their name, when the app is deleted", async () => {
    const made = await apps.register({ name: "Gone soon", scopes: allScopes });
    const channel = await group("gone");
    await apps.install(channel, made.id);
    const call = as(made.api_key);
    await call(`POST /channels/${channel}/messages/post`, {
      content: "Remember me",
      meta: { app: { name: "Fake" } },
    });
    expect((await apps.call(`DELETE /id/${made.id}/delete`)).body).toBe(true);
    expect((await call("GET /apps/me")).status).toBe(401);
    const [message] = (await people.call(`GET /${channel}/messages`)).body;
    expect(message).toMatchObject({
      content: "Remember me",
      user_id: null,
      user: { id: null, name: "Gone soon", role: "app" },
    });
    expect((await people.call(`GET /${channel}/members?query=Gone`)).body.users).toEqual([]);
    expect((await apps.call(`GET /id/${made.id}`)).status).toBe(404);
  });

  it("write only so much in a minute", async () => {
    const made = await helper("fast");
    const channel = await group("fast");
    await apps.install(channel, made.id);
    const call = as(made.api_key);
    const statuses: number[] = [];
    for (let index = 0; index < 61; index++) {
      statuses.push(
        (await call(`POST /channels/${channel}/messages/post`, { content: String(index) })).status,
      );
    }
    expect(statuses.filter((status) => status === 200)).toHaveLength(60);
    expect(statuses.at(-1)).toBe(429);
  });
});

describe("manifests", () => {
  it("are refused when events would never come", async () => {
    const wrong: [object, number, string][] = [
      [{ events: ["app.added"] }, 400, "url"],
      [{ url: receiver.url, events: ["message.created"] }, 400, "messages:read"],
      [{ url: "ftp://example.org" }, 400, "url"],
      [{ scopes: ["all"] }, 422, "scopes"],
      [{ name: "" }, 422, "name"],
      [{ avatar: "javascript:alert(1)" }, 400, "image"],
    ];
    for (const [form, status, word] of wrong) {
      const answer = await apps.call("POST /create", { manifest: { name: "Wrong", ...form } });
      expect([answer.status, answer.text]).toEqual([status, expect.stringContaining(word)]);
    }
  });

  it("are for administrators alone", async () => {
    const made = await apps.register({ name: "Own" });
    for (const route of [
      "GET /",
      "POST /manifest",
      "POST /create",
      `POST /id/${made.id}/key`,
      `DELETE /id/${made.id}/delete`,
    ]) {
      expect((await apps.call(route, route.startsWith("POST") ? {} : undefined, person.token)).status).toBe(
        403,
      );
    }
  });

  it("reach private addresses only where the variable names the origin", async () => {
    const posted = await helper("allowed");
    expect((await apps.call(`POST /id/${posted.id}/test`)).body).toEqual({
      success: true,
      status: 200,
      error: null,
    });
    expect(at("allowed")[0]?.body).toMatchObject({ event: "app.test", data: { app: { id: posted.id } } });
    for (const url of [other.url, "http://169.254.169.254/", "http://[::1]:1/"]) {
      const made = await apps.register({ url });
      expect((await apps.call(`POST /id/${made.id}/test`)).body).toMatchObject({
        success: false,
        status: null,
      });
      expect((await apps.call("POST /manifest", { url })).status).toBe(400);
    }
    expect(other.received).toEqual([]);
  });

  it("are audited", async () => {
    const made = await apps.register({ name: "Noted" });
    await apps.call(`POST /id/${made.id}/update`, { description: "Now with words" });
    await apps.call(`POST /id/${made.id}/key`);
    await apps.call(`DELETE /id/${made.id}/delete`);
    const { body, text } = await admin.call(`GET /api/v1/audit?object_type=app&object_id=${made.id}`);
    const actions = body.records.map(({ action }: { action: string }) => action).toSorted();
    expect(actions).toEqual(["app.created", "app.deleted", "app.updated", "app.updated"]);
    expect(text).not.toContain(made.signing_secret);
  });
});
