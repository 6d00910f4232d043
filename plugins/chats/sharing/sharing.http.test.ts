import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { App, TestUser } from "#test/support/app.ts";
import { useApp } from "#test/support/shared-apps.ts";
import { upload } from "#plugins/files/client.fixture.ts";
import { type ChatClient, chatClient, conversation, said, withoutAuthor } from "../chats.fixture.ts";

let app: App;
let me: ChatClient;
let owner: TestUser;
let reader: TestUser;
let stranger: ChatClient;
let admin: ChatClient;
const visitor = () => chatClient(app, undefined);
const anyone = { principal_type: "anyone", principal_id: "*", permission: "read" };

beforeAll(async () => {
  app = await useApp();
  owner = await app.user();
  reader = await app.user();
  me = chatClient(app, owner.token);
  stranger = chatClient(app, (await app.user()).token);
  admin = chatClient(app, (await app.admin()).token);
});
afterAll(() => app?.close());

async function share(client: ChatClient, id: string, grants: unknown[]) {
  const shared = await client.call(`POST /${id}/share`);
  expect(shared.status).toBe(200);
  const { status, body } = await client.call(`POST /shared/${id}/access/update`, { access_grants: grants });
  expect(status).toBe(200);
  return { link: shared.body.share_id as string, access: body };
}

describe("a shared chat", () => {
  let id: string;
  let link: string;
  beforeEach(async () => {
    ({ id } = await me.make(conversation()));
    const grant = { principal_type: "user", principal_id: reader.id, permission: "read" };
    ({ link } = await share(me, id, [grant]));
  });

  it("is read by who was given it, as it was when it was shared", async () => {
    const before = await me.read(id);
    before.chat = withoutAuthor(before.chat);
    await me.call(`POST /${id}`, {
      chat: { title: "Later", history: { messages: { a1: { content: "changed" } } } },
    });
    const theirs = chatClient(app, reader.token);
    const seen = await theirs.call(`GET /share/${link}`);
    expect(seen.body.chat).toEqual(before.chat);
    expect(seen.body).toMatchObject({ id: link, chat_id: id, user_id: owner.id, title: before.title });
    const asChat = await theirs.read(id);
    expect([asChat.chat, asChat.id, asChat.share_id]).toEqual([before.chat, id, link]);
    expect(asChat.current_message_id).toBe("a1");
    for (const route of [
      `POST /${id}`,
      `DELETE /${id}`,
      `POST /${id}/pin`,
      `GET /${id}/messages`,
      `GET /${id}/tags`,
    ]) {
      const body = route === `POST /${id}` ? { chat: {} } : undefined;
      expect([route, (await theirs.call(route, body)).status]).toEqual([route, 404]);
    }
    expect((await me.call(`POST /${id}/share`)).body.share_id).toBe(link);
    expect((await theirs.call(`GET /share/${link}`)).body.title).toBe("Later");
  });

  it("is nothing to others, and to nobody once the link is taken away", async () => {
    const theirs = chatClient(app, reader.token);
    for (const client of [stranger, visitor()]) {
      const [foreign, unknown] = [
        await client.call(`GET /share/${link}`),
        await client.call("GET /share/ghost"),
      ];
      expect([foreign.status, foreign.text]).toEqual([404, unknown.text]);
    }
    expect((await stranger.call(`POST /${link}/clone/shared`)).status).toBe(404);
    expect((await me.call(`DELETE /${id}/share`)).body).toBe(true);
    expect((await theirs.call(`GET /share/${link}`)).status).toBe(404);
    expect((await theirs.call(`GET /${id}`)).status).toBe(404);
    const fresh = await me.call(`POST /${id}/share`);
    expect(fresh.body.share_id).not.toBe(link);
    expect((await theirs.call(`GET /share/${fresh.body.share_id}`)).status).toBe(404);
  });

  it("can be copied by who may read it", async () => {
    const theirs = chatClient(app, reader.token);
    const { status, body } = await theirs.call(`POST /${link}/clone/shared`);
    expect(status).toBe(200);
    expect(body).toMatchObject({ user_id: reader.id, title: "Clone of A chat", current_message_id: "a1" });
    expect(Object.keys(body.chat.history.messages)).toEqual(["u1", "a1"]);
    expect((await me.call(`GET /${body.id}`)).status).toBe(404);
  });

  it("stands in one's list of shared chats until all links are taken away", async () => {
    const ids = async () => (await me.call("GET /shared")).body.map((row: { id: string }) => row.id);
    expect(await ids()).toContain(id);
    const access = (await me.call(`GET /shared/${id}/access`)).body;
    const { updated_at, title } = await me.read(id);
    expect(access).toMatchObject({ title, updated_at, shared_at: expect.any(Number) });
    const row = (await me.call("GET /shared")).body.find((one: { id: string }) => one.id === id);
    expect(row).toMatchObject({ shared_at: access.shared_at, access_grants: access.access_grants });
    expect((await me.call("DELETE /share/all")).body).toBe(true);
    expect(await ids()).toEqual([]);
    expect((await me.read(id)).share_id).toBeNull();
  });
});

describe("a link for anyone", () => {
  it("opens without sign-in, and shows neither ids of accounts and models nor what tools were told", async () => {
    const chat = conversation();
    const a1 = {
      ...chat.history.messages.a1,
      model: "secret-model",
      sources: [{ source: { id: "file-of-mine" } }],
      unheard: 1,
      originalContent: "before a filter",
    };
    const output = [
      { type: "function_call", name: "peek", arguments: "{}" },
      { type: "message", content: [{ type: "output_text", text: "hello" }] },
    ];
    const made = await admin.make({
      models: ["secret-model"],
      history: { currentId: "a1", messages: { ...chat.history.messages, a1: { ...a1, output } } },
    });
    const { link, access } = await share(admin, made.id, [anyone]);
    expect(access.access_grants).toMatchObject([anyone]);
    const { status, body, text } = await visitor().call(`GET /share/${link}`);
    expect(status).toBe(200);
    expect(body.chat.messages[1]).toMatchObject({
      content: "reply a1",
      modelName: "Guide",
      output: [{ type: "message" }],
    });
    for (const secret of [
      "secret-model",
      made.id,
      made.user_id,
      "peek",
      "file-of-mine",
      "unheard",
      "before a filter",
    ]) {
      expect(text).not.toContain(secret);
    }
    await admin.call(`POST /shared/${made.id}/access/update`, { access_grants: [] });
    expect((await visitor().call(`GET /share/${link}`)).status).toBe(404);
  });

  it("needs a permission, and has one form only", async () => {
    const { id } = await me.make(conversation());
    const everyone = { principal_type: "user", principal_id: "*", permission: "read" };
    const { access } = await share(me, id, [anyone, everyone]);
    expect(access.access_grants).toEqual([]);
    for (const wrong of [
      { ...anyone, permission: "write" },
      { ...anyone, principal_id: owner.id },
    ]) {
      const { status } = await me.call(`POST /shared/${id}/access/update`, { access_grants: [wrong] });
      expect(status).toBe(400);
    }
    expect((await stranger.call(`GET /shared/${id}/access`)).status).toBe(404);
    expect((await stranger.call(`POST /shared/${id}/access/update`, { access_grants: [] })).status).toBe(404);
  });
});

describe("files of a chat", () => {
  const send = async (user: TestUser, text: string) =>
    (await upload(app, ["note.txt", text], { token: user.token, query: "?process=false" })).body.id as string;
  const fetchAs = async (user: TestUser, id: string) =>
    (await user.call(`GET /api/v1/files/${id}/content`)).status;

  it("are read through the share when they are the owner's, and only those that were shown", async () => {
    const [mine, later, theirs] = [
      await send(owner, "mine"),
      await send(owner, "later"),
      await send(reader, "theirs"),
    ];
    const files = [mine, theirs].map((file) => ({ type: "file", id: file, name: "n", status: "processed" }));
    const made = await me.make({
      files,
      history: { messages: { u1: said("u1", "x", { files }) }, currentId: "u1" },
    });
    expect(made.chat.files).toEqual(files);
    expect(made.chat.history.messages.u1.files).toEqual(files);
    const other = await app.user();
    await share(me, made.id, [{ principal_type: "user", principal_id: other.id, permission: "read" }]);
    await me.call(`POST /${made.id}`, { chat: { files: [...files, { type: "file", id: later }] } });
    expect([await fetchAs(other, mine), await fetchAs(other, later), await fetchAs(other, theirs)]).toEqual([
      200, 404, 404,
    ]);
    expect(await fetchAs(owner, theirs)).toBe(404);
    expect((await other.call(`DELETE /api/v1/files/${mine}`)).status).toBe(404);
    await me.call(`DELETE /${made.id}/share`);
    expect(await fetchAs(other, mine)).toBe(404);
  });

  it("leave the chat's list when they are deleted, and come with its copies", async () => {
    const [first, second] = [await send(owner, "1"), await send(owner, "2")];
    const entries = [
      { type: "file", id: first },
      { type: "collection", id: "c" },
      { type: "file", id: second, x: 1 },
    ];
    const made = await me.make({ files: entries });
    const copy = await me.call(`POST /${made.id}/clone`);
    expect(copy.body.chat.files).toEqual(entries);
    await owner.call(`DELETE /api/v1/files/${first}`);
    expect((await me.read(made.id)).chat.files).toEqual(entries.slice(1));
    expect((await me.call(`POST /${made.id}`, { chat: { files: [] } })).body.chat.files).toEqual([]);
    expect((await me.read(copy.body.id)).chat.files).toEqual(entries.slice(1));
  });
});
