import { afterAll, beforeAll, expect, it } from "vitest";
import { type App, startApp } from "#test/support/app.ts";
import { connectPlain, type PlainClient } from "#test/support/sockets.ts";
import { chatClient, conversation } from "./chats.fixture.ts";

let app: App;
const clients: PlainClient[] = [];

beforeAll(async () => {
  app = await startApp();
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
