import { isDeepStrictEqual } from "node:util";
import { expect, it } from "vitest";
import { useApp } from "#test/support/shared-apps.ts";
import { connectPlain } from "#test/support/sockets.ts";
import { chatClient, conversation } from "./chats.fixture.ts";

it("the owner's other windows hear which chats were deleted", async () => {
  const app = await useApp();
  const user = await app.user();
  const me = chatClient(app, user.token);
  const { id } = await me.make(conversation());
  const client = await connectPlain(app.url, { token: user.token });
  await client.sessionId();
  const heard = (deleted: unknown) =>
    client.event((_, sent) => isDeepStrictEqual(sent?.data?.data?.deleted, deleted));
  expect((await me.call(`DELETE /${id}`)).body).toBe(true);
  await heard([id]);
  expect((await me.call("DELETE /")).body).toBe(true);
  // However many there were: their ids would make an event of megabytes.
  await heard("all");
  client.close();
  await app.close();
});
