import { afterAll, beforeAll, expect, it } from "vitest";
import type { App } from "#test/support/app.ts";
import { useApp } from "#test/support/shared-apps.ts";
import { connectPlain, type PlainClient } from "#test/support/sockets.ts";
import {
  chatClient,
  type ChatClient,
  conversation,
  chatServices,
  type ChatServices,
} from "./chats.fixture.ts";

let app: App;
const clients: PlainClient[] = [];

let services: ChatServices;

beforeAll(async () => {
  app = await useApp();
  services = chatServices(app);
});
afterAll(async () => {
  clients.forEach((client) => client.close());
  await app?.close();
});

async function connect(token: string): Promise<PlainClient> {
  const client = await connectPlain(app.url, { token });
  clients.push(client);
  await client.sessionId();
  return client;
}

it("an open window says that a chat was read, and the owner's others hear of it", async () => {
  const user = await app.user();
  const me = chatClient(app, user.token);
  const { id } = await me.make(conversation());
  await me.call(`POST /${id}/unread`);
  const [first, second] = [await connect(user.token), await connect(user.token)];
  expect(await first.emit("events:chat", { chat_id: id, data: { type: "last_read_at" } })).toBe(true);
  const heard = await second.event((_, data) => data?.data?.type === "chat:list");
  expect(heard).toMatchObject({
    chat_id: id,
    data: { data: { chat_id: id, last_read_at: expect.any(Number) } },
  });
  const listed = (await me.call("GET /")).body as { last_read_at: number | null }[];
  expect(listed[0]?.last_read_at).toBe(heard.data.data.last_read_at);
  const stranger = await connect((await app.user()).token);
  expect(await stranger.emit("events:chat", { chat_id: id, data: { type: "last_read_at" } })).toMatchObject({
    code: "not_found",
  });
});

/** A chat that was last changed and read long ago. */
async function oldChat(me: ChatClient): Promise<string> {
  const { id } = await me.make(conversation());
  await moveTimes(id, { updated: 1_600_000_000, read: 1_600_000_000 });
  return id;
}

async function moveTimes(id: string, { updated, read }: { updated: number; read: number }) {
  const change = "update chat set updated_at = $2, last_read_at = $3 where id = $1";
  await app.running.database.query(change, [id, updated, read]);
}

/** True for a chat that shows as unread. */
const isUnread = ({ last_read_at, updated_at }: { last_read_at: number; updated_at: number }) =>
  last_read_at < updated_at;

it("whoever changes or deletes messages has read the chat; who has a filter change them has not", async () => {
  const user = await app.user();
  const me = chatClient(app, user.token);
  const changes: [change: (id: string) => Promise<unknown>, unread: boolean][] = [
    [(id) => me.call(`DELETE /${id}/messages/a1`), false],
    [(id) => me.call(`POST /${id}/messages/a1`, { content: "new" }), false],
    [
      async (id) =>
        services.chats.rewrite((await services.accounts.principalOf(user.id))!, id, [
          { id: "a1", content: "filtered" },
        ]),
      true,
    ],
  ];
  for (const [change, unread] of changes) {
    const id = await oldChat(me);
    await change(id);
    const chat = await me.read(id);
    expect(chat.updated_at).toBeGreaterThan(1_700_000_000);
    expect(isUnread(chat)).toBe(unread);
  }
});

it("a chat whose clock is ahead is read once somebody says so, and its time does not go back", async () => {
  const me = chatClient(app, (await app.user()).token);
  const ahead = Math.floor(Date.now() / 1000) + 3600;
  const { id } = await me.make(conversation());
  await moveTimes(id, { updated: ahead, read: 1 });
  expect((await me.call(`POST /${id}/read`)).body.last_read_at).toBe(ahead);
  await me.call(`DELETE /${id}/messages/a1`);
  expect(await me.read(id)).toMatchObject({ updated_at: ahead, last_read_at: ahead });
  expect((await me.call(`POST /${id}/unread`)).body.last_read_at).toBeNull();
});
