import { randomUUID } from "node:crypto";
import { beforeEach, describe, expect, it } from "vitest";
import type { App } from "#test/support/app.ts";
import { text } from "#test/support/upstream-scripts.ts";
import type { Upstream } from "#test/support/upstream.ts";
import { type ChatClient, chatClient } from "#plugins/chats/chats.fixture.ts";
import { startAppWithUpstream } from "#test/support/app-with-upstream.ts";
import { setUp } from "#test/support/set-up.ts";
import { type FolderClient, folderClient, grant, permit } from "./folders.fixture.ts";

let app: App;
let upstream: Upstream;
let owner: FolderClient;
let reader: FolderClient;
let folder: string;

setUp(async (keep) => {
  ({ app, upstream } = await keep(startAppWithUpstream({ env: { OPENAI_API_KEYS: "key" } })));
  upstream.always("/chat/completions", text("Well said."));
  const admin = await app.admin();
  await admin.call("GET /api/models?refresh=true");
});
beforeEach(async () => {
  owner = folderClient(app, await app.user());
  reader = folderClient(app, await app.user());
  await permit(app, [owner.user], { sharing: { folders: true } });
  folder = await owner.make("Poems", { data: { system_prompt: "Answer {{USER_NAME}} in rhyme." } });
});

/** Asks, and resolves to the answer's status and the system message that reached the model. */
async function ask(by: FolderClient, body: Record<string, unknown>) {
  const before = upstream.requests.length;
  const answer = await by.user.call("POST /api/chat/completions", {
    model: "alpha",
    messages: [{ role: "user", content: "Moon?" }],
    ...body,
  });
  const asked = upstream.requests.slice(before).filter(({ path }) => path.endsWith("/chat/completions"));
  const messages: { role: string; content: string }[] = asked[0]?.body.messages ?? [];
  const system = messages.find(({ role }) => role === "system")?.content;
  return { status: answer.status, body: answer.body, system };
}

/** A run in a stored chat, whose end the request waits for. */
async function askIn(chats: ChatClient, by: FolderClient, more: Record<string, unknown> = {}) {
  const [user, reply] = [randomUUID(), randomUUID()];
  const messages = {
    [user]: { id: user, role: "user", content: "Moon?", childrenIds: [reply], models: ["alpha"] },
    [reply]: { id: reply, role: "assistant", content: "", parentId: user, childrenIds: [], model: "alpha" },
  };
  const { folder_id = null, ...rest } = more;
  const made = await chats.make({ history: { currentId: reply, messages } }, { folder_id });
  return { ...(await ask(by, { chat_id: made.id, id: reply, stream: true, ...rest })), chat: made.id, reply };
}

describe("a run in a folder that", () => {
  it("is one's own has its prompt, as it is when the run begins", async () => {
    const chats = chatClient(app, owner.user.token);
    const first = await askIn(chats, owner, { folder_id: folder });
    expect([first.status, first.system]).toEqual([200, `Answer ${owner.user.name} in rhyme.`]);
    const stored = await chats.read(first.chat);
    expect(stored.chat.history.messages[first.reply].content).toBe("Well said.");
    await owner.call(`POST /${folder}/update`, { data: { system_prompt: "Answer in prose." } });
    expect((await askIn(chats, owner, { folder_id: folder })).system).toBe("Answer in prose.");
    expect((await askIn(chats, owner)).system).toBeUndefined();
  });

  it("somebody else shares lends its prompt until it is shared no more", async () => {
    const chats = chatClient(app, reader.user.token);
    const borrow = async () => {
      const chat = await chats.make({ title: "mine" });
      const id = randomUUID();
      const message = { id, role: "assistant", content: "", childrenIds: [], model: "alpha" };
      await chats.call(`POST /${chat.id}`, {
        chat: { history: { currentId: id, messages: { [id]: message } } },
      });
      const { system } = await ask(reader, { chat_id: chat.id, id, stream: true, folder_id: folder });
      const { error } = (await chats.read(chat.id)).chat.history.messages[id];
      return error?.content ?? system;
    };
    const refused = { status: 404, body: { detail: "Folder not found" }, system: undefined };
    expect(await borrow()).toBe("Folder not found");
    expect(await ask(reader, { folder_id: folder })).toMatchObject(refused);
    await owner.call(`POST /${folder}/access/update`, { access_grants: [grant(reader.user.id)] });
    const lent = `Answer ${reader.user.name} in rhyme.`;
    expect([await borrow(), (await ask(reader, { folder_id: folder })).system]).toEqual([lent, lent]);
    await owner.call(`POST /${folder}/access/update`, { access_grants: [] });
    expect(await borrow()).toBe("Folder not found");
    expect(await ask(reader, { folder_id: folder })).toMatchObject(refused);
  });

  it("is not one's own makes no chat there", async () => {
    const start = (by: FolderClient) => {
      const userMessage = { id: randomUUID(), role: "user", content: "Moon?" };
      const ids = [{ model_id: "alpha", message_id: randomUUID() }];
      const place = { parent_id: null, folder_id: folder, session_id: "s" };
      return ask(by, { ...place, user_message: userMessage, message_ids: ids, stream: true });
    };
    const made = await start(owner);
    expect(made.status).toBe(200);
    const chat = await chatClient(app, owner.user.token).read(made.body.chat_id);
    expect(chat.folder_id).toBe(folder);
    // The owner's run asks the upstream in its own time.
    await ended(made.body.chat_id, owner.user.token);
    const refused = await start(reader);
    expect([refused.status, refused.system]).toEqual([404, undefined]);
    expect((await chatClient(app, reader.user.token).call("GET /?include_folders=true")).body).toEqual([]);
  });
});

async function ended(chatId: string, token: string): Promise<void> {
  for (;;) {
    const { body } = await app.call(`GET /api/tasks/chat/${chatId}`, { token });
    if (body.task_ids.length === 0) {
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
