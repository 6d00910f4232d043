import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type App, startApp } from "#test/support/app.ts";
import { definePlugin } from "#kernel/plugin.ts";
import type { Slot } from "#kernel/service.ts";
import { type Accounts, accounts } from "#plugins/accounts/service.ts";
import { chatClient, said } from "#plugins/chats/chats.fixture.ts";
import { type PromptRun, type PromptSource, promptSources } from "#plugins/completions/service.ts";
import { upload } from "#plugins/files/client.fixture.ts";
import { type FolderClient, folderClient, grant, permit, setVariables } from "./folders.fixture.ts";
import { type Folders, folders } from "./service.ts";

let app: App;
let inside: { prompts: Slot<PromptSource>; folders: Folders; accounts: Accounts };
let owner: FolderClient;
let reader: FolderClient;
let writer: FolderClient;
let stranger: FolderClient;
let id: string;

beforeAll(async () => {
  const observer = definePlugin({
    id: "observer-test",
    title: "Observer",
    uses: { prompts: promptSources, folders, accounts },
    setup({ use }) {
      inside = use;
      return {};
    },
  });
  app = await startApp({ plugins: [observer] });
});
beforeEach(async () => {
  const join = async () => folderClient(app, await app.user());
  [owner, reader, writer, stranger] = [await join(), await join(), await join(), await join()];
  await permit(app, [owner.user], { sharing: { folders: true } });
  id = await owner.make("Poems", { data: { system_prompt: "Answer in rhyme." } });
});
afterAll(() => app?.close());

const share = (by: FolderClient, access_grants: unknown[]) =>
  by.call(`POST /${id}/access/update`, { access_grants });
const shareAll = () => share(owner, [grant(reader.user.id), grant(writer.user.id, "write")]);

describe("what a shared folder lends", () => {
  const send = async (by: FolderClient, name: string) =>
    (await upload(app, [name, name], { token: by.user.token, query: "?process=false" })).body.id as string;
  const fetchAs = async (by: FolderClient, file: string) =>
    (await by.user.call(`GET /api/v1/files/${file}/content`)).status;
  const knowledge = async (by: FolderClient) => {
    const principal = await inside.accounts.principalOf(by.user.id);
    const items = await inside.folders.knowledge(principal as NonNullable<typeof principal>, id);
    return items.map((item) => item.id);
  };

  it("are the owner's files, and those shown in its chats", async () => {
    const [lent, shown, kept] = [
      await send(owner, "lent"),
      await send(owner, "shown"),
      await send(owner, "kept"),
    ];
    await owner.call(`POST /${id}/update`, { data: { files: [{ type: "file", id: lent }] } });
    const u = said("u", "see", { files: [{ type: "file", id: shown }] });
    const chats = chatClient(app, owner.user.token);
    await chats.make({ history: { messages: { u }, currentId: "u" } }, { folder_id: id });
    expect([await fetchAs(reader, lent), await fetchAs(reader, shown)]).toEqual([404, 404]);
    await shareAll();
    expect([await fetchAs(reader, lent), await fetchAs(reader, shown), await fetchAs(reader, kept)]).toEqual([
      200, 200, 404,
    ]);
    expect(await fetchAs(stranger, lent)).toBe(404);
    expect((await writer.user.call(`DELETE /api/v1/files/${lent}`)).status).toBe(404);
    expect((await reader.call(`GET /${id}`)).body.data.files).toEqual([{ type: "file", id: lent }]);
    expect([await knowledge(reader), await knowledge(stranger)]).toEqual([[lent], []]);
    await share(owner, []);
    expect([await fetchAs(reader, lent), await fetchAs(reader, shown)]).toEqual([404, 404]);
    expect([await knowledge(owner), await knowledge(reader)]).toEqual([[lent], []]);
  });

  // Promises S15 and S17.
  it("is never a file of somebody else: refused when it is written, and asked again when it is used", async () => {
    await shareAll();
    const [mine, theirs] = [await send(owner, "mine"), await send(writer, "theirs")];
    const put = (by: FolderClient, files: string[]) =>
      by.call(`POST /${id}/update`, { data: { files: files.map((file) => ({ type: "file", id: file })) } });
    expect((await put(writer, [mine])).status).toBe(404);
    expect((await put(owner, [theirs])).status).toBe(404);
    expect((await put(writer, [theirs])).status).toBe(200);
    expect([await knowledge(writer), await knowledge(owner), await knowledge(reader)]).toEqual([
      [theirs],
      [],
      [],
    ]);
    expect([await fetchAs(owner, theirs), await fetchAs(reader, theirs)]).toEqual([404, 404]);
  });

  it("is its prompt, to those who may read it when a run begins", async () => {
    const ask = async (by: FolderClient, folderId: string | undefined = id) => {
      const principal = await inside.accounts.principalOf(by.user.id);
      const run = {
        principal,
        folderId,
        isFolderNamed: false,
        chatId: undefined,
        model: undefined,
      } as unknown as PromptRun;
      const texts = await Promise.all(inside.prompts.list().map((source) => source.prompt(run)));
      return texts.filter((text) => text !== undefined);
    };
    expect([await ask(owner), await ask(reader), await ask(owner, "unknown")]).toEqual([
      ["Answer in rhyme."],
      [],
      [],
    ]);
    await shareAll();
    expect(await ask(reader)).toEqual(["Answer in rhyme."]);
    await share(owner, []);
    expect(await ask(reader)).toEqual([]);
    await setVariables(app, { ENABLE_FOLDERS: false });
    try {
      expect(await ask(owner)).toEqual([]);
    } finally {
      await setVariables(app, { ENABLE_FOLDERS: true });
    }
    await owner.call(`POST /${id}/update`, { data: { system_prompt: " " } });
    expect(await ask(owner)).toEqual([]);
  });
});
