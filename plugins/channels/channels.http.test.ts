import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { SystemEvent } from "#kernel/events.ts";
import { events } from "#kernel/services.ts";
import { upload } from "#plugins/files/client.fixture.ts";
import type { App } from "#test/support/app.ts";
import { useApp } from "#test/support/shared-apps.ts";
import { type ChannelClient, channelClient } from "./channels.fixture.ts";

let app: App;
let admin: ChannelClient;
let ann: ChannelClient;
let ben: ChannelClient;
let eve: ChannelClient;
const heard: SystemEvent[] = [];
let stopListening: () => void;

beforeAll(async () => {
  app = await useApp({ env: { ENABLE_CHANNELS: "true" } });
  stopListening = app.running
    .service(events)
    .onSystemEvent((event) => void (/^(channel|message)\./.test(event.event) && heard.push(event)));
  admin = channelClient(app, await app.admin());
});
beforeEach(async () => {
  [ann, ben, eve] = [
    channelClient(app, await app.user()),
    channelClient(app, await app.user()),
    channelClient(app, await app.user()),
  ];
});
afterAll(async () => {
  stopListening?.();
  await app?.close();
});

const read = (id: string) => ({ principal_type: "user", principal_id: id, permission: "read" });
const write = (id: string) => ({ principal_type: "user", principal_id: id, permission: "write" });
const eventsOf = (id: string) => heard.filter(({ subject }) => subject?.id === id).map(({ event }) => event);

describe("a channel", () => {
  it("is for those with a grant; only administrators make one, its name in lower case", async () => {
    expect((await ann.call("POST /create", { name: "Mine" })).status).toBe(403);
    const made = await admin.call("POST /create", {
      name: "  News OF The Mill ",
      description: "d",
      access_grants: [read(ann.user.id), write(ben.user.id)],
    });
    expect(made.body).toMatchObject({
      name: "news of the mill",
      type: null,
      user_id: admin.user.id,
      is_manager: true,
      write_access: true,
      unread_count: 0,
      user_count: 3,
      archived_at: null,
      deleted_by: null,
    });
    expect(made.body.created_at).toBeGreaterThan(1e18);
    const { id } = made.body;
    expect((await ann.call(`GET /${id}`)).body).toMatchObject({ write_access: false, is_manager: false });
    expect((await ben.call(`GET /${id}`)).body).toMatchObject({ write_access: true });
    expect((await eve.call(`GET /${id}`)).status).toBe(404);
    expect((await ann.call(`POST /${id}/messages/post`, { content: "x" })).status).toBe(403);
    expect((await eve.call(`POST /${id}/messages/post`, { content: "x" })).status).toBe(404);
    expect((await ben.call(`POST /${id}/update`, { name: "y" })).status).toBe(403);
    expect((await ben.call(`DELETE /${id}/delete`)).status).toBe(403);
    expect(
      (await admin.call(`POST /${id}/update`, { name: "OTHER", access_grants: [read(eve.user.id)] })).body
        .name,
    ).toBe("other");
    expect((await ann.call(`GET /${id}`)).status).toBe(404);
    expect((await eve.call("GET /")).body.map((row: { name: string }) => row.name)).toEqual(["other"]);
    expect((await admin.call(`DELETE /${id}/delete`)).body).toBe(true);
    expect((await eve.call(`GET /${id}`)).status).toBe(404);
    expect(eventsOf(id)).toEqual(["channel.created", "channel.updated", "channel.deleted"]);
  });

  it("may be a group: members are added, removed, and leave; who left finds nothing", async () => {
    const id = await ann.make({ name: "Group", type: "group", user_ids: [ben.user.id] });
    const members = async () => (await ann.call(`GET /${id}/members`)).body;
    expect(await members()).toEqual({
      total: 2,
      users: [ann, ben].map(({ user }) => ({
        id: user.id,
        name: user.name,
        profile_image_url: `/api/v1/users/${user.id}/profile/image`,
      })),
    });
    expect((await ben.call(`POST /${id}/update/members/add`, { user_ids: [eve.user.id] })).status).toBe(403);
    expect(
      (await ann.call(`POST /${id}/update/members/add`, { user_ids: [eve.user.id, "nobody"] })).body,
    ).toEqual([eve.user.id]);
    expect((await ben.call(`POST /${id}/update/members/remove`, { user_ids: [eve.user.id] })).status).toBe(
      403,
    );
    expect((await eve.call(`POST /${id}/update/members/remove`, { user_ids: [eve.user.id] })).body).toEqual([
      eve.user.id,
    ]);
    for (const route of [`GET /${id}`, `GET /${id}/members`, `GET /${id}/messages`, `GET /${id}/webhooks`]) {
      expect((await eve.call(route)).status, route).toBe(404);
    }
    expect((await members()).total).toBe(2);
    expect((await ben.call(`POST /${id}/members/active`, { is_active: false })).body).toBe(true);
    // Administrators read it without being members, so they have nothing to write.
    expect((await admin.call(`POST /${id}/members/active`, { is_active: true })).status).toBe(404);
    expect((await ben.call("GET /")).body).toEqual([]);
    expect((await ben.call("GET /list")).body).toHaveLength(1);
    expect((await members()).total).toBe(1);
    expect((await ann.call("POST /create", { name: "x", type: "group", group_ids: ["nope"] })).status).toBe(
      404,
    );
    expect(eventsOf(id)).toEqual([
      "channel.created",
      "channel.member_added",
      "channel.member_removed",
      "channel.member_active_updated",
    ]);
  });

  it("may be direct: one for the same people, closed to administrators", async () => {
    const [first, second] = await Promise.all([
      ann.call(`GET /users/${ben.user.id}`),
      ben.call("POST /create", { type: "dm", user_ids: [ann.user.id] }),
    ]);
    expect(first.body.id).toBe(second.body.id);
    const { id } = first.body;
    expect((await admin.call(`GET /${id}`)).status).toBe(404);
    expect((await admin.call("GET /list")).body.map((row: { id: string }) => row.id)).not.toContain(id);
    expect(first.body.users.map((one: { id: string }) => one.id).toSorted()).toEqual(
      [ann.user.id, ben.user.id].toSorted(),
    );
    expect((await ann.call("GET /users/nobody")).status).toBe(404);
    await ben.call(`POST /${id}/members/active`, { is_active: false });
    await ann.post(id, "Hello");
    expect((await ben.call("GET /")).body).toMatchObject([{ id, unread_count: 1 }]);
    // Its creator has no power over the other's words.
    const message = await ben.post(id, "Hi");
    expect((await ann.call(`DELETE /${id}/messages/${message.id}/delete`)).status).toBe(403);
    expect((await ann.call(`POST /${id}/update`, { name: "x" })).status).toBe(403);
  });

  it("answers 403 while channels are off or not permitted", async () => {
    const set = (value: boolean) =>
      admin.user.call("POST /api/v1/configs/settings", { ENABLE_CHANNELS: value });
    await set(false);
    expect((await admin.call("GET /")).status).toBe(403);
    expect((await admin.call("POST /webhooks/a/b", { content: "x" })).status).toBe(403);
    await set(true);
    expect((await admin.call("GET /")).status).toBe(200);
  });
});

describe("messages", () => {
  let id: string;
  beforeEach(async () => {
    id = await ann.make({ name: "Group", type: "group", user_ids: [ben.user.id] });
  });

  it("are posted, answered in threads, changed, pinned and deleted, with all they carry", async () => {
    const file = (await upload(app, ["a.txt", "text"], { token: ann.user.token, query: "?process=false" }))
      .body;
    const first = await ann.post(id, "First", {
      temp_id: "t1",
      data: { files: [{ type: "file", id: file.id, name: "a.txt" }] },
      meta: { color: "red", model_id: "forged", webhook: { id: "w" } },
    });
    expect(first).toMatchObject({
      temp_id: "t1",
      channel_id: id,
      user_id: ann.user.id,
      content: "First",
      meta: { color: "red" },
      user: { id: ann.user.id, name: ann.user.name, role: "user" },
      reactions: [],
      reply_count: 0,
      is_pinned: false,
    });
    // A file that was posted is lent to the members, and to nobody else.
    const open = (who: ChannelClient) => who.user.call(`GET /api/v1/files/${file.id}/content`);
    expect((await open(ben)).status).toBe(200);
    expect((await open(eve)).status).toBe(404);
    const stolen = { content: "x", data: { files: [{ id: file.id }] } };
    expect((await ben.call(`POST /${id}/messages/post`, stolen)).status).toBe(404);
    const reply = await ben.post(id, "Reply", { parent_id: first.id });
    expect((await ben.call(`POST /${id}/messages/post`, { content: "x", parent_id: reply.id })).status).toBe(
      400,
    );
    const second = await ben.post(id, "Second", { reply_to_id: first.id });
    expect(second.reply_to_message).toMatchObject({ id: first.id, content: "First" });
    const list = (await ann.call(`GET /${id}/messages`)).body;
    expect(list.map((one: { content: string }) => one.content)).toEqual(["Second", "First"]);
    expect(list[1]).toMatchObject({ data: true, reply_count: 1, files: [{ id: file.id }] });
    expect(list[0].data).toBe(false);
    expect((await ann.call(`GET /${id}/messages/${first.id}/data`)).body.files[0].id).toBe(file.id);
    expect(
      (await ann.call(`GET /${id}/messages/${first.id}/thread`)).body.map((one: { id: string }) => one.id),
    ).toEqual([reply.id]);
    expect(
      (await ann.call(`GET /${id}/messages?before=${second.id}`)).body.map((one: { id: string }) => one.id),
    ).toEqual([first.id]);
    expect(
      (await ann.call(`GET /${id}/messages?after=${first.id}`)).body.map((one: { id: string }) => one.id),
    ).toEqual([second.id]);
    const between = await ann.call(`GET /${id}/messages?after=${first.id}&before=${second.id}`);
    expect([between.status, JSON.stringify(between.body)]).toEqual([422, expect.stringContaining("after")]);
    expect((await ann.call(`GET /${id}/messages?skip=1`)).body).toHaveLength(1);
    const changed = await ann.call(`POST /${id}/messages/${first.id}/update`, { content: "Changed words" });
    expect(changed.body).toMatchObject({
      content: "Changed words",
      meta: { color: "red", edited_at: expect.any(String) },
    });
    expect((await ann.call(`POST /${id}/messages/${second.id}/pin`, { is_pinned: true })).body).toMatchObject(
      {
        is_pinned: true,
        pinned_by: ann.user.id,
      },
    );
    expect((await ben.call(`GET /${id}/messages/pinned`)).body).toMatchObject([{ id: second.id }]);
    expect((await ben.call(`GET /${id}/messages/search?query=chan wor`)).body).toMatchObject([
      { id: first.id },
    ]);
    expect(
      (await ben.call(`GET /${id}/messages/search?query=${encodeURIComponent("'); drop & | !")}`)).body,
    ).toEqual([]);
    expect((await ann.call(`DELETE /${id}/messages/${reply.id}/delete`)).body).toBe(true);
    expect((await ann.call(`GET /${id}/messages/${first.id}`)).body).toMatchObject({
      reply_count: 0,
      latest_reply_at: null,
    });
    expect((await ann.call(`DELETE /${id}/messages/${first.id}/delete`)).body).toBe(true);
    expect((await ann.call(`GET /${id}/messages/${first.id}`)).status).toBe(404);
    expect(heard.filter(({ subject }) => subject?.id === first.id).map(({ event }) => event)).toEqual([
      "message.created",
      "message.updated",
      "message.deleted",
    ]);
    expect((await ann.call(`POST /${id}/messages/post`, { content: " " })).status).toBe(400);
  });

  // Security case S37.
  it("of others are not changed, deleted or pinned, in any kind of channel", async () => {
    const standard = await admin.make({
      name: "s",
      access_grants: [write(ben.user.id), read(eve.user.id), write(ann.user.id)],
    });
    const direct = (await ann.call(`GET /users/${ben.user.id}`)).body.id;
    for (const place of [standard, id, direct]) {
      const { id: message } = await ann.post(place, "Mine");
      const at = `/${place}/messages/${message}`;
      for (const who of place === standard ? [ben, eve] : [ben]) {
        const tries = [
          await who.call(`POST ${at}/update`, { content: "x" }),
          await who.call(`POST ${at}/pin`, { is_pinned: true }),
          await who.call(`DELETE ${at}/delete`),
        ];
        expect(tries.map(({ status }) => status)).toEqual([403, 403, 403]);
      }
      const foreign = channelClient(app, await app.user());
      expect((await foreign.call(`POST ${at}/reactions/add`, { name: "x" })).status).toBe(404);
      // A message is reached through its own channel alone.
      expect(
        (await ann.call(`POST /${place === id ? direct : id}/messages/${message}/update`, { content: "x" }))
          .status,
      ).toBe(404);
      expect((await ann.call(`GET ${at}`)).body.content).toBe("Mine");
    }
  });

  it("carry reactions, each of a person once", async () => {
    const { id: message } = await ann.post(id, "React");
    const at = `/${id}/messages/${message}/reactions`;
    await Promise.all([1, 2].map(() => ben.call(`POST ${at}/add`, { name: "👍" })));
    await ann.call(`POST ${at}/add`, { name: "👍" });
    await ann.call(`POST ${at}/add`, { name: "❤" });
    const shown = async () => (await ann.call(`GET /${id}/messages/${message}`)).body.reactions;
    expect(await shown()).toMatchObject([
      { name: "👍", count: 2 },
      { name: "❤", count: 1 },
    ]);
    await ben.call(`POST ${at}/remove`, { name: "👍" });
    expect((await shown())[0]).toMatchObject({ count: 1, users: [{ id: ann.user.id }] });
    expect(eventsOf(message).filter((event) => event === "message.reaction_added")).toHaveLength(3);
  });
});
