import { expect, it } from "vitest";
import { useApp } from "#test/support/shared-apps.ts";
import { connectPlain } from "#test/support/sockets.ts";
import { chatClient, conversation } from "./chats.fixture.ts";

it("the owner's other windows hear which chats were deleted", async () => {
  const app = await useApp();
  const user = await app.user();
  const me = chatClient(app, user.token);
  const [first, second, third] = [
    await me.make(conversation()),
    await me.make(conversation()),
    await me.make(conversation()),
  ];
  const client = await connectPlain(app.url, { token: user.token });
  await client.sessionId();
  const heard = async (count: number) => {
    const { data } = await client.event((_, sent) => sent?.data?.data?.deleted?.length === count);
    return data.data.deleted as string[];
  };
  expect((await me.call(`DELETE /${first.id}`)).body).toBe(true);
  expect(await heard(1)).toEqual([first.id]);
  expect((await me.call("DELETE /")).body).toBe(true);
  expect((await heard(2)).toSorted()).toEqual([second.id, third.id].toSorted());
  client.close();
  await app.close();
});
