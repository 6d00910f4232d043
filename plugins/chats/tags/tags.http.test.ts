import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { folderClient, grant, permit } from "#plugins/folders/folders.fixture.ts";
import type { App, TestUser } from "#test/support/app.ts";
import { useApp } from "#test/support/shared-apps.ts";
import { type ChatClient, chatClient, conversation } from "../chats.fixture.ts";

let app: App;
let owner: TestUser;
let reader: TestUser;
let me: ChatClient;
let theirs: ChatClient;

beforeAll(async () => {
  app = await useApp();
});
beforeEach(async () => {
  [owner, reader] = [await app.user(), await app.user()];
  [me, theirs] = [chatClient(app, owner.token), chatClient(app, reader.token)];
});
afterAll(() => app?.close());

it("a chat shows the tags it carries, and only the routes of tags change them", async () => {
  const { id, chat } = await me.make({ ...conversation(), tags: ["Old", "Kept"] });
  expect(chat.tags).toEqual(["old", "kept"]);
  await me.call(`DELETE /${id}/tags`, { name: "old" });
  await me.call(`POST /${id}`, { chat: { tags: ["old", "kept"] } });
  await me.call(`POST /${id}/tags`, { name: "New" });
  const read = await me.read(id);
  expect([read.chat.tags, read.meta.tags]).toEqual([
    ["kept", "new"],
    ["kept", "new"],
  ]);
});

it("what was removed does not come back by import, and names that only the chat object has do", async () => {
  const [one, two] = [
    { chat: { title: "a", tags: ["Gone", "Big Plans"] }, meta: { tags: ["big_plans"] } },
    { chat: { title: "b", tags: ["Small"] } },
  ];
  const { body } = await me.call("POST /import", { chats: [one, two] });
  expect(body.map(({ meta }: { meta: object }) => meta)).toEqual([
    { tags: ["big_plans"] },
    { tags: ["small"] },
  ]);
  const names = (await me.call("GET /all/tags")).body.map(({ name }: { name: string }) => name);
  expect(names).toEqual(["Big Plans", "Small"]);
});

it("whoever reads a share, copies it, or reads a folder sees nothing of its owner's tags", async () => {
  await permit(app, [owner], { sharing: { folders: true } });
  const folders = folderClient(app, owner);
  const folder_id = await folders.make("Shared");
  const { id } = await me.make({ ...conversation(), tags: ["Private"] }, { folder_id });
  const link = (await me.call(`POST /${id}/share`)).body.share_id;
  await me.call(`POST /shared/${id}/access/update`, { access_grants: [grant(reader.id)] });
  expect((await theirs.call(`GET /share/${link}`)).body.chat.tags).toEqual([]);
  const copy = (await theirs.call(`POST /${link}/clone/shared`)).body;
  expect([copy.chat.tags, copy.meta]).toEqual([[], { task_id: null }]);
  await folders.call(`POST /${folder_id}/access/update`, { access_grants: [grant(reader.id)] });
  expect((await theirs.read(id)).chat.tags).toEqual([]);
  expect((await theirs.call(`GET /${id}/tags`)).body).toEqual([]);
  const admin = chatClient(app, (await app.admin()).token);
  for (const client of [me, admin]) {
    expect((await client.call(`GET /${id}/tags`)).body).toMatchObject([{ id: "private" }]);
    expect((await client.read(id)).chat.tags).toEqual(["private"]);
  }
  expect((await me.call(`POST /${id}/clone`)).body.chat.tags).toEqual(["private"]);
});
