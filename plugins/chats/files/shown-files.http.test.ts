import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { upload } from "#plugins/files/client.fixture.ts";
import { type FolderClient, folderClient, grant, permit } from "#plugins/folders/folders.fixture.ts";
import type { App } from "#test/support/app.ts";
import { useApp } from "#test/support/shared-apps.ts";
import {
  chatClient,
  type ChatClient,
  chatServices,
  type ChatServices,
  replied,
  said,
} from "../chats.fixture.ts";
import type { Replies } from "../service.ts";

let app: App;
let owner: FolderClient;
let me: ChatClient;
let reader: FolderClient;
let folder_id: string;

let services: ChatServices;

beforeAll(async () => {
  app = await useApp();
  services = chatServices(app);
});
afterAll(() => app?.close());

beforeEach(async () => {
  [owner, reader] = [folderClient(app, await app.user()), folderClient(app, await app.user())];
  me = chatClient(app, owner.user.token);
  await permit(app, [owner.user], { sharing: { folders: true } });
  folder_id = await owner.make("Shared");
  await owner.call(`POST /${folder_id}/access/update`, { access_grants: [grant(reader.user.id)] });
});

/** A file of the owner's: its id, its entry in lists, and how a message shows it as a picture. */
async function send() {
  const { token } = owner.user;
  const { body } = await upload(app, ["note.txt", "x"], { token, query: "?process=false" });
  const id = body.id as string;
  const url = { url: `/api/v1/files/${id}/content` };
  return { id, entry: { type: "file", id }, picture: [{ type: "image_url", image_url: url }] };
}

const statusFor = async (id: string) => (await reader.user.call(`GET /api/v1/files/${id}/content`)).status;
const patch = async (id: string, messages: object) =>
  expect((await me.call(`POST /${id}`, { chat: { history: { messages } } })).status).toBe(200);

describe("a file that two messages show", () => {
  it("stays a file of the chat until the last of them shows it no more", async () => {
    const file = await send();
    const messages = {
      u1: said("u1", "x", { files: [file.entry] }),
      u2: said("u2", file.picture, { parentId: "u1" }),
      u3: said("u3", `no link: ${file.id}`, { parentId: "u2", files: [{ type: "note", id: file.id }] }),
    };
    const { id } = await me.make({ history: { currentId: "u3", messages } }, { folder_id });
    expect(await statusFor(file.id)).toBe(200);
    await me.call(`DELETE /${id}/messages/u1`);
    expect(await statusFor(file.id)).toBe(200);
    await me.call(`DELETE /${id}/messages/u2`);
    expect(await statusFor(file.id)).toBe(404);
  });

  it("comes along with the branch that is left of them", async () => {
    const file = await send();
    const messages = {
      u1: said("u1", "x", { files: [file.entry] }),
      u2: said("u2", "y", { files: [file.entry] }),
    };
    const made = await me.make({ history: { currentId: "u2", messages } });
    const fork = (await me.call(`POST /${made.id}/fork`, { message_id: "u2" })).body;
    const clone = (await me.call(`POST /${made.id}/clone`)).body;
    await me.call(`DELETE /${made.id}`);
    for (const copy of [fork, clone]) {
      expect(await statusFor(file.id)).toBe(404);
      await me.call(`POST /${copy.id}/folder`, { folder_id });
      expect(await statusFor(file.id)).toBe(200);
      await me.call(`DELETE /${copy.id}`);
    }
  });
});

describe("a file that its message shows no more", () => {
  it("is no file of the chat any more, however the message changed", async () => {
    const files = [await send(), await send(), await send(), await send()] as const;
    const [first, second, third, fourth] = files;
    const messages = {
      u1: said("u1", "x", { files: [first.entry] }),
      u2: said("u2", second.picture),
      u3: said("u3", third.picture),
      u4: said("u4", fourth.picture),
    };
    const { id } = await me.make({ history: { currentId: "u1", messages } }, { folder_id });
    await patch(id, { u1: { favorite: true } });
    const statuses = () => Promise.all(files.map((file) => statusFor(file.id)));
    expect(await statuses()).toEqual([200, 200, 200, 200]);
    await patch(id, { u1: { files: [] }, u2: { content: "nothing" } });
    await me.call(`POST /${id}/messages/u3`, { content: "nothing" });
    await me.call(`POST /${id}/messages/u4/event`, { type: "replace", data: { content: "nothing" } });
    expect(await statuses()).toEqual([404, 404, 404, 404]);
  });

  it("stays where the chat's own list names it", async () => {
    const file = await send();
    const history = { currentId: "u1", messages: { u1: said("u1", "x", { files: [file.entry] }) } };
    const { id } = await me.make({ files: [file.entry], history }, { folder_id });
    await patch(id, { u1: { files: [] } });
    expect([await statusFor(file.id), (await me.read(id)).chat.files]).toEqual([200, [file.entry]]);
    await me.call(`POST /${id}`, { chat: { files: [] } });
    expect(await statusFor(file.id)).toBe(404);
  });

  it("leaves with the reply that is written anew, and what the run brings stays", async () => {
    const [old, asked, fresh] = [await send(), await send(), await send()];
    const messages = {
      u1: said("u1", "x"),
      a1: replied("a1", "u1", { files: [old.entry] }),
      a2: replied("a2", "u1", { files: [asked.entry], done: false }),
    };
    const { id } = await me.make({ history: { currentId: "a1", messages } }, { folder_id });
    const reply = { chatId: id, messageId: "a1", runId: "run" };
    await services.replies.begin(reply);
    await services.replies.begin({ ...reply, messageId: "a2", runId: "other" });
    expect([await statusFor(old.id), await statusFor(asked.id)]).toEqual([404, 200]);
    const person = { userId: owner.user.id } as Parameters<Replies["linkFiles"]>[0];
    await services.replies.linkFiles(person, reply, [fresh.entry]);
    await patch(id, { a1: { content: "ignored", files: [] } });
    expect(await statusFor(fresh.id)).toBe(200);
  });

  it("stays while its address stands in words, and no words bring a file", async () => {
    const [drawn, other] = [await send(), await send()];
    const at = ({ id }: { id: string }) => `![](/api/v1/files/${id}/content)`;
    const messages = { u1: said("u1", "Draw"), a1: replied("a1", "u1", { content: at(drawn) }) };
    const { id } = await me.make({ history: { currentId: "a1", messages } }, { folder_id });
    const person = { userId: owner.user.id } as Parameters<Replies["linkFiles"]>[0];
    await services.replies.linkFiles(person, { chatId: id, messageId: "a1" }, [{ id: drawn.id }]);
    await patch(id, { a1: { content: `Here: ${at(drawn)} ${at(other)}`, files: [] } });
    expect([await statusFor(drawn.id), await statusFor(other.id)]).toEqual([200, 404]);
    const link = (await me.call(`POST /${id}/share`)).body.share_id;
    const { rows } = await app.running.database.query("select file_ids from shared_chat where id = $1", [
      link,
    ]);
    expect(rows).toEqual([{ file_ids: [drawn.id] }]);
    await patch(id, { a2: replied("a2", "u1", { content: [{ type: "text", text: at(drawn) }] }) });
    await patch(id, { a1: { content: "nothing" } });
    expect(await statusFor(drawn.id)).toBe(200);
    await me.call(`DELETE /${id}/messages/a2`);
    expect(await statusFor(drawn.id)).toBe(404);
  });

  it("is still behind the link of a chat that was shared before", async () => {
    const file = await send();
    const messages = { u1: said("u1", file.picture) };
    const { id } = await me.make({ history: { currentId: "u1", messages } });
    await me.call(`POST /${id}/share`);
    await me.call(`POST /shared/${id}/access/update`, { access_grants: [grant(reader.user.id)] });
    await patch(id, { u1: { content: "nothing" } });
    expect(await statusFor(file.id)).toBe(200);
    await me.call(`POST /${id}/share`);
    expect(await statusFor(file.id)).toBe(404);
  });
});
