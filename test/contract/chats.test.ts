import { describe, expect, it } from "vitest";
import { type Client, createClient } from "#plugins/web/kit/client.ts";
import type { Api } from "#plugins/catalogue.ts";
import { useAppWithUpstream } from "#test/support/app-with-upstream.ts";
import type { App, TestUser } from "#test/support/app.ts";
import { type ChatDriver, chatDriver, toChat } from "#test/support/chat-driver.ts";
import { setUp } from "#test/support/set-up.ts";
import type { Upstream } from "#test/support/upstream.ts";
import { paced } from "#test/support/upstream-paced.ts";

// ecosystem-shapes.md, Lists and records: chats.

let app: App;
let upstream: Upstream;
let owner: TestUser;
let me: ChatDriver;
let client: Client<Api>;

setUp(async (keep) => {
  ({ app, upstream } = await keep(useAppWithUpstream({ connection: {}, env: { OPENAI_API_KEYS: "key" } })));
  upstream.always("/chat/completions", paced(["One ", "two ", "three"], { every: 200 }));
  owner = await app.user("admin");
  me = chatDriver(() => app.url, owner.token);
  client = createClient<Api>({ url: app.url, token: () => owner.token });
  await owner.call("GET /api/models?refresh=true");
});

const author = () => ({ id: owner.id, name: owner.name, email: owner.email, role: "admin" });

describe("a chat", () => {
  it("has an object of variables, no usage of its context and no mode of sharing by default", async () => {
    const { chatId } = await me.makeChat();
    const chat = await client.call("GET /api/v1/chats/:id", { params: { id: chatId } });
    expect(chat).toMatchObject({ variables: {}, context_usage: null, chat: { share_mode: null } });
    const pinned = await client.call("POST /api/v1/chats/:id/pin", { params: { id: chatId } });
    expect(pinned.variables).toEqual({});
  });

  it("says that a snapshot of it is shared", async () => {
    const { chatId } = await me.makeChat();
    const params = { id: chatId };
    await client.call("POST /api/v1/chats/:id/share", { params });
    expect((await me.read(chatId)).chat.share_mode).toBe("snapshot");
    await client.call("DELETE /api/v1/chats/:id/share", { params });
    expect((await me.read(chatId)).chat.share_mode).toBeNull();
  });

  it("names the task that writes into it", async () => {
    const { chatId, replyId } = await me.makeChat();
    expect((await me.read(chatId)).meta).toMatchObject({ task_id: null });
    const { body } = await me.complete({ chat_id: chatId, id: replyId, stream: true, session_id: "s" });
    expect((await me.read(chatId)).meta).toMatchObject({ task_id: body.task_ids[0] });
    await me.ended(chatId);
    expect((await me.read(chatId)).meta).toMatchObject({ task_id: null });
  });

  it("is answered whole when it is put into a folder", async () => {
    const folder = await client.call("POST /api/v1/folders/", { body: { name: "Work" } });
    const { chatId, userId } = await me.makeChat();
    const moved = await owner.call(`POST /api/v1/chats/${chatId}/folder`, { folder_id: folder.id });
    expect(moved.body).toMatchObject({
      folder_id: folder.id,
      chat: { history: { messages: { [userId]: { content: "Hi" } } } },
    });
  });
});

describe("a user's message", () => {
  it("names its author, a reply does not", async () => {
    const { chatId, userId, replyId } = await me.makeChat();
    const { chat } = await me.read(chatId);
    expect(chat.history.messages[userId]).toMatchObject({ user_id: owner.id, user: author() });
    expect(chat.history.messages[replyId]).not.toHaveProperty("user");
    expect(chat.messages[0]).toMatchObject({ user_id: owner.id, user: author() });
    const page = await me.call(`GET /api/v1/chats/${chatId}/messages`);
    expect(page.body.messages[0]).toMatchObject({ id: userId, user_id: owner.id, user: author() });
  });

  it("has the author that wrote it, whatever is sent back", async () => {
    const { chatId, userId } = await me.makeChat();
    const { chat } = await me.read(chatId);
    chat.history.messages[userId].user = { id: "forged", name: "Forged" };
    chat.history.messages[userId].user_id = "forged";
    await me.call(`POST /api/v1/chats/${chatId}`, { chat });
    const text = (await me.call(`GET /api/v1/chats/${chatId}`)).text;
    expect(text).not.toContain("forged");
    expect(JSON.parse(text).chat.history.messages[userId].user).toEqual(author());
  });

  it("names nobody to those who open a link without signing in", async () => {
    const { chatId } = await me.makeChat();
    const shared = await client.call("POST /api/v1/chats/:id/share", { params: { id: chatId } });
    const grant = { principal_type: "anyone", principal_id: "*", permission: "read" };
    await me.call(`POST /api/v1/chats/shared/${chatId}/access/update`, { access_grants: [grant] });
    const opened = await app.call(`GET /api/v1/chats/share/${(shared as { share_id: string }).share_id}`);
    expect(opened.status).toBe(200);
    expect(opened.text).not.toContain(owner.email);
  });
});

it("rows of lists have a snippet and say whether the chat is archived", async () => {
  const { chatId } = await me.makeChat("needle");
  const row = { id: chatId, snippet: null, archived: false };
  expect(await client.call("GET /api/v1/chats/")).toContainEqual(expect.objectContaining(row));
  const found = await client.call("GET /api/v1/chats/search", { query: { text: "needle" } });
  expect(found).toMatchObject([{ id: chatId, snippet: "needle", archived: false }]);
  await client.call("POST /api/v1/chats/:id/archive", { params: { id: chatId } });
  expect(await client.call("GET /api/v1/chats/archived")).toMatchObject([
    { id: chatId, snippet: null, archived: true },
  ]);
});

it("an exported chat can be imported as it is", async () => {
  const ids = { userId: crypto.randomUUID(), replyId: crypto.randomUUID() };
  await client.call("POST /api/v1/chats/new", { body: { chat: toChat("Export me", ids) } });
  const exported = (await client.call("GET /api/v1/chats/all")) as { chat: object; meta: object }[];
  const [imported] = await client.call("POST /api/v1/chats/import", {
    body: { chats: exported.slice(0, 1) as never },
  });
  expect(imported?.meta).not.toHaveProperty("task_id");
});
