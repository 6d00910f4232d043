import { afterAll, describe, expect, it } from "vitest";
import { signWebhook } from "#kernel/webhook-signature.ts";
import type { Received } from "#test/support/receiver.ts";
import { startAppStage } from "./apps.fixture.ts";

const wait = { timeout: 20_000, interval: 50 };

const stage = await startAppStage();
const { app, person, apps, receiver, boss, people, at, group, helper, as } = stage;
afterAll(() => stage.close());

const eventsAt = (path: string) => at(path).map(({ body }) => body.event);

describe("events of apps", () => {
  it("come signed, from channels that the app was added to, and carry no e-mail address", async () => {
    const made = await helper("signed", { events: ["message.created", "app.added"] });
    const channel = await group("signed");
    expect((await apps.install(channel, made.id)).body).toBe(true);
    await expect.poll(() => eventsAt("signed"), wait).toEqual(["app.added"]);
    const posted = await people.post(channel, "Hello there");
    await expect.poll(() => eventsAt("signed"), wait).toEqual(["app.added", "message.created"]);
    const { headers, text, body } = at("signed")[1] as Received;
    const signed = signWebhook(text, {
      id: String(headers["webhook-id"]),
      secret: made.signing_secret,
      at: Number(headers["webhook-timestamp"]),
    });
    expect(headers).toMatchObject(signed);
    expect(body).toMatchObject({
      schema: "event.v1",
      actor: { id: person.id, name: person.name },
      data: {
        app: { id: made.id, user_id: made.user_id, name: "Helper" },
        channel: { id: channel, name: "signed", type: "group" },
        message: { id: posted.id, content: "Hello there", parent_id: null },
        author: { id: person.id, role: "user" },
      },
    });
    expect(text).not.toContain(person.email);
    await boss.post(await group("elsewhere"), "not for it");
    expect(eventsAt("signed")).toHaveLength(2);
  });

  it("tell of edits, reactions, pins, members and mentions as the app asked for", async () => {
    const events = [
      "app.mentioned",
      "message.updated",
      "message.deleted",
      "message.pinned",
      "reaction.added",
      "reaction.removed",
      "member.joined",
      "member.left",
      "app.removed",
    ];
    const made = await helper("all", { events });
    const channel = await group("all");
    await apps.install(channel, made.id);
    const place = `/${channel}/messages`;
    const { id } = await people.post(channel, `Say something, <@U:${made.user_id}|Helper>`);
    const told = (count: number) => expect.poll(() => eventsAt("all").length, wait).toBe(count);
    const guest = await app.user();
    const steps: [string, object | undefined][] = [
      [`POST ${place}/${id}/update`, { content: "Say more" }],
      [`POST ${place}/${id}/reactions/add`, { name: "👍" }],
      [`POST ${place}/${id}/reactions/remove`, { name: "👍" }],
      [`POST ${place}/${id}/pin`, { is_pinned: true }],
      [`DELETE ${place}/${id}/delete`, undefined],
    ];
    await told(1);
    for (const [index, [route, body]] of steps.entries()) {
      expect((await people.call(route, body)).status).toBe(200);
      await told(index + 2);
    }
    await boss.call(`POST /${channel}/update/members/add`, { user_ids: [guest.id] });
    await told(7);
    await boss.call(`POST /${channel}/update/members/remove`, { user_ids: [guest.id] });
    await told(8);
    expect((await apps.call(`POST /channels/${channel}/remove`, { app_id: made.id })).body).toBe(true);
    await told(9);
    expect(eventsAt("all")).toEqual([
      "app.mentioned",
      "message.updated",
      "reaction.added",
      "reaction.removed",
      "message.pinned",
      "message.deleted",
      "member.joined",
      "member.left",
      "app.removed",
    ]);
    expect(at("all")[1]?.body.data.message).toMatchObject({ id, content: "Say more" });
    expect(at("all")[2]?.body.data.reaction).toEqual({ name: "👍", user_id: person.id });
    expect(at("all")[6]?.body.data.member).toEqual({ id: guest.id, is_app: false });
    await people.post(channel, "alone again");
    expect((await as(made.api_key)(`GET /channels/${channel}/messages`)).status).toBe(404);
    expect(eventsAt("all")).toHaveLength(9);
  });

  it("never tell an app of what it wrote itself", async () => {
    const made = await helper("loop", { events: ["message.created", "reaction.added"] });
    const channel = await group("loop");
    await apps.install(channel, made.id);
    const own = await as(made.api_key)(`POST /channels/${channel}/messages/post`, { content: "I speak" });
    expect(own.body.user).toEqual({ id: made.user_id, name: "Helper", role: "app" });
    await as(made.api_key)(`POST /channels/${channel}/messages/${own.body.id}/reactions/add`, { name: "🎉" });
    await boss.post(channel, "You do");
    await expect.poll(() => eventsAt("loop"), wait).toEqual(["message.created"]);
    expect(at("loop")[0]?.body.data.message.content).toBe("You do");
  });

  it("are tried again after a failure, and the app is switched off when it takes none", async () => {
    const made = await helper("broken", { events: ["message.created"] });
    const channel = await group("broken");
    await apps.install(channel, made.id);
    receiver.answer("/broken", 503, ...Array.from({ length: 10 }, () => 400));
    await boss.post(channel, "first");
    const log = async () => (await apps.call(`GET /id/${made.id}/deliveries`)).body;
    await expect.poll(log, wait).toMatchObject([{ status: "pending", attempts: 1, last_status: 503 }]);
    for (let index = 0; index < 9; index++) {
      await boss.post(channel, `post ${index}`);
    }
    const state = async () => (await apps.call(`GET /id/${made.id}`)).body;
    await expect.poll(async () => (await state()).enabled, { ...wait, timeout: 40_000 }).toBe(false);
    expect((await state()).disabled_reason).toMatch(/^10 events in a row could not be delivered/);
    expect((await as(made.api_key)("GET /apps/me")).status).toBe(403);
    const count = at("broken").length;
    await boss.post(channel, "nobody hears");
    expect((await log()).length).toBe(10);
    const again = await apps.call(`POST /id/${made.id}/update`, { enabled: true });
    expect(again.body).toMatchObject({ enabled: true, disabled_reason: null });
    const failed = (await log()).find(({ status }: { status: string }) => status === "failed");
    expect((await apps.call(`POST /id/${made.id}/deliveries/${failed.id}/retry`)).body).toBe(true);
    await expect.poll(() => at("broken").length, wait).toBe(count + 1);
    expect((await as(made.api_key)("GET /apps/me")).status).toBe(200);
  });
});
