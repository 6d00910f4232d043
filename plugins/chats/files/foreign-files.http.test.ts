import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { upload } from "#plugins/files/client.fixture.ts";
import { grant, permit } from "#plugins/folders/folders.fixture.ts";
import type { App, TestUser } from "#test/support/app.ts";
import { useApp } from "#test/support/shared-apps.ts";
import { type ChatClient, chatClient, said } from "../chats.fixture.ts";

let app: App;
let [u, v]: TestUser[] = [];
let [ofU, ofV]: ChatClient[] = [];

beforeAll(async () => {
  app = await useApp();
  [u, v] = [await app.user(), await app.user()];
  await permit(app, [u, v], { sharing: { chats: true }, access_grants: { allow_users: true } });
  [ofU, ofV] = [chatClient(app, u.token), chatClient(app, v.token)];
});
afterAll(() => app?.close());

async function fileOf(user: TestUser): Promise<string> {
  return (await upload(app, ["note.txt", "secret"], { token: user.token, query: "?process=false" })).body.id;
}

const statusFor = async (user: TestUser, file: string) =>
  (await user.call(`GET /api/v1/files/${file}`)).status;

/** A chat whose list, question and picture name a file. */
function naming(file: string, own: string) {
  const picture = { type: "image_url", image_url: { url: `https://host.test/api/v1/files/${file}/content` } };
  const words = { type: "text", text: "Look" };
  const messages = {
    u1: said("u1", [words, picture], {
      childrenIds: ["u2"],
      files: [
        { type: "file", id: file },
        { type: "file", id: own },
      ],
    }),
    u2: said("u2", "And", {
      parentId: "u1",
      files: [
        { type: "image", url: `/api/v1/files/${file}/content` },
        { type: "note", id: file },
      ],
    }),
  };
  return {
    files: [
      { type: "file", id: file },
      { type: "file", id: own },
    ],
    history: { currentId: "u2", messages },
  };
}

/** What is left of it once the file is foreign. */
function expectStripped(chat: ReturnType<typeof naming>, own: string[]): void {
  const entries = own.map((id) => ({ type: "file", id }));
  const { u1, u2 } = chat.history.messages as unknown as Record<string, { content: unknown; files: unknown }>;
  expect([chat.files, u1?.files, u2?.files]).toEqual([
    entries,
    entries,
    [expect.objectContaining({ type: "note" })],
  ]);
  expect(u1?.content).toEqual([{ type: "text", text: "Look" }]);
}

async function share(by: ChatClient, id: string, reader: TestUser): Promise<string> {
  const shared = await by.call(`POST /${id}/share`);
  expect(shared.status).toBe(200);
  await by.call(`POST /shared/${id}/access/update`, { access_grants: [grant(reader.id)] });
  return shared.body.share_id;
}

// Promise S17.
describe("a foreign file in a chat", () => {
  it("is not opened by a clone that its owner shares back", async () => {
    const [secret, own] = [await fileOf(v!), await fileOf(u!)];
    const { id } = await ofU!.make(naming(secret, own));
    const link = await share(ofU!, id, v!);
    const clone = (await ofV!.call(`POST /${link}/clone/shared`)).body;
    const back = await share(ofV!, clone.id, u!);
    expect((await ofU!.call(`GET /share/${back}`)).status).toBe(200);
    expect(await statusFor(u!, secret)).toBe(404);
    // A snapshot that names it, such as one of before, brings it into no clone either.
    await app.running.database.query("update shared_chat set chat = cast($1 as jsonb) where id = $2", [
      JSON.stringify({ title: "Old", ...naming(secret, own) }),
      link,
    ]);
    const again = (await ofV!.call(`POST /${link}/clone/shared`)).body;
    expectStripped(again.chat, [own]);
    await share(ofV!, again.id, u!);
    expect(await statusFor(u!, secret)).toBe(404);
    expect(await statusFor(v!, own)).toBe(200);
  });

  it("is stripped from shares, clones, forks and imports", async () => {
    const [secret, own] = [await fileOf(v!), await fileOf(u!)];
    const made = await ofU!.make(naming(secret, own));
    const link = await share(ofU!, made.id, v!);
    const { body: shown } = await ofV!.call(`GET /share/${link}`);
    expectStripped(shown.chat, [own]);
    expectStripped((await ofU!.call(`POST /${made.id}/clone`)).body.chat, [own]);
    const fork = await ofU!.call(`POST /${made.id}/fork`, { message_id: "u2" });
    expectStripped(fork.body.chat, [own]);
    const [imported] = (await ofU!.call("POST /import", { chats: [{ chat: made.chat }] })).body;
    expectStripped((await ofU!.read(imported.id)).chat, [own]);
  });
});
