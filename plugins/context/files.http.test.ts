import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { type RunStage, startRunStage } from "#plugins/runs/runs.fixture.ts";
import { text } from "#test/support/upstream-scripts.ts";
import { addFile, ask, askInChat, deed } from "./context.fixture.ts";

// Vectors of the first test are still made while the next ones ask.
vi.setConfig({ testTimeout: 90_000 });

// Files, folders, chats and texts that a question names (contract §3.2, steps 5 and 11; §6.3).

let stage: RunStage;
let file: string;
beforeAll(async () => {
  stage = await startRunStage({
    env: {
      OPENAI_API_CONFIGS: JSON.stringify({ 0: { access: "everyone" } }),
      // What the task model says is no matter here.
      ENABLE_RETRIEVAL_QUERY_GENERATION: "false",
    },
  });
  file = await addFile(stage, "deed.txt", deed);
});
afterAll(() => stage?.close());
beforeEach(() => stage.upstream.always("/chat/completions", text("Ada [1].")));

const sentence = "The sluice gate belongs to Ada Marten.";
const call = (route: string, body?: unknown, token = stage.user.token) =>
  stage.app.call(route, { token, body });

describe("a file", () => {
  it("is asked, and cited by its id", async () => {
    const { status, body, told } = await ask(stage, {
      files: [{ type: "file", id: file, name: "deed.txt" }],
    });
    expect(status).toBe(200);
    expect(told).toContain(sentence);
    expect(told).toContain(`resource-type=\\"file\\" resource-id=\\"${file}\\"`);
    const [{ source, document, metadata }] = body.sources;
    expect(source).toEqual({ id: file, name: "deed.txt", type: "file" });
    expect(document.join("\n")).toContain(sentence);
    expect(metadata[0]).toMatchObject({ source: "deed.txt", name: "deed.txt", file_id: file });
    const { start, end } = metadata[0];
    expect(deed.slice(start, end).trim()).toBe(document[0].trim());
  });

  it("is given whole where the item says so", async () => {
    const { body } = await ask(stage, { files: [{ type: "file", id: file, context: "full" }] });
    expect(body.sources).toHaveLength(1);
    expect(body.sources[0].document).toEqual([deed]);
    expect(body.sources[0].metadata[0]).toMatchObject({ start: 0, end: deed.length, whole: true });
  });

  it("of another person's is refused; one that an earlier question brought and that is gone is told", async () => {
    const other = await stage.app.user();
    const foreign = await addFile(stage, "secret.txt", "The word is mellon.", other.token);
    expect(
      (await ask(stage, { files: [{ type: "file", id: foreign }] }, (await stage.app.user()).token)).status,
    ).toBe(404);

    const short = await addFile(stage, "note.txt", sentence);
    const files = [{ type: "file", id: short, name: "note.txt" }];
    const chat = await stage.makeChat();
    const question = { id: crypto.randomUUID(), content: "Whose gate?", files, parentId: chat.replyId };
    const first = await askInChat(stage, {
      chat: { ...chat, replyId: crypto.randomUUID() },
      user_message: question,
      parent_id: chat.replyId,
      files,
    });
    expect(first.reply.sources).toMatchObject([{ source: { id: short } }]);

    const follow = async (parentId: string) => {
      const next = { id: crypto.randomUUID(), content: "Since when?", parentId };
      const place = { chat: { chatId: chat.chatId, replyId: crypto.randomUUID() }, user_message: next };
      return await askInChat(stage, { ...place, parent_id: parentId });
    };
    const second = await follow(first.replyId);
    expect(second.told).toContain(sentence);
    expect((await call(`DELETE /api/v1/files/${short}`)).status).toBe(200);
    const third = await follow(second.replyId);
    expect([third.status, third.reply.sources ?? []]).toEqual([200, []]);
    expect(third.told).not.toContain(sentence);
    expect(third.reply.statusHistory).toMatchObject([
      { action: "context_unavailable", description: expect.stringContaining("note.txt") },
    ]);
  });

  it("without a text is told, in a reply that goes without it", async () => {
    const empty = await addFile(stage, "wheel.bin", "\u0000\u0001");
    const { reply } = await askInChat(stage, { files: [{ type: "file", id: empty }] });
    expect(reply.content).toBe("Ada [1].");
    expect(reply.sources).toBeUndefined();
    expect(reply.statusHistory.at(-1).description).toContain("wheel.bin");
  });

  it("shows how it was looked for in the reply", async () => {
    const { reply } = await askInChat(stage, { files: [{ type: "file", id: file }] });
    expect(reply.sources[0].source.id).toBe(file);
    expect(reply.statusHistory.at(-1)).toMatchObject({ action: "sources_retrieved", count: 1, done: true });
  });

  it("is cut to the context of the model", async () => {
    const meta = { context_length: 1_200 };
    const model = { id: "short", name: "Short", base_model_id: "alpha", meta, params: {} };
    expect((await call("POST /api/v1/models/create", model)).status).toBe(200);
    const { reply } = await askInChat(stage, {
      model: "short",
      files: [{ type: "file", id: file, context: "full" }],
    });
    const [given] = reply.sources[0].document;
    expect(given.length).toBeGreaterThan(1_500);
    expect(given.length).toBeLessThan(1_200 * 4);
    expect(deed.startsWith(given)).toBe(true);
    expect(reply.statusHistory.map(({ action }: { action: string }) => action)).toContain(
      "context_unavailable",
    );
  });

  it("is left to the tools of models that are not given files", async () => {
    const meta = { capabilities: { file_context: false } };
    const model = { id: "reader", name: "Reader", base_model_id: "alpha", meta, params: {} };
    expect((await call("POST /api/v1/models/create", model)).status).toBe(200);
    const files = [{ type: "file", id: file }];
    const native = await askInChat(stage, { model: "reader", files });
    expect([native.reply.sources, native.reply.statusHistory ?? []]).toEqual([undefined, []]);
    const legacy = await askInChat(stage, { model: "reader", files, params: { function_calling: "legacy" } });
    expect(legacy.told).not.toContain(sentence);
    expect(legacy.reply.statusHistory).toMatchObject([{ action: "context_unavailable" }]);
  });
});

describe("a folder", () => {
  it("lends what it holds where no tools read it, and where it is named", async () => {
    const data = { files: [{ type: "file", id: file, name: "deed.txt" }] };
    const { body: folder } = await call("POST /api/v1/folders/", { name: "Mill", data });
    const named = await ask(stage, { files: [{ type: "folder", id: folder.id }] });
    expect(named.told).toContain(sentence);
    expect((await ask(stage, { folder_id: folder.id })).told).toContain(sentence);
    const { chatId, replyId } = await stage.makeChat();
    expect((await call(`POST /api/v1/chats/${chatId}/folder`, { folder_id: folder.id })).status).toBe(200);
    const native = await askInChat(stage, { chat: { chatId, replyId } });
    expect([native.status, native.told.includes(sentence)]).toEqual([200, false]);

    const stranger = await stage.app.user();
    const files = [{ type: "folder", id: folder.id }];
    expect((await ask(stage, { files }, stranger.token)).status).toBe(404);
  });
});

describe("a model", () => {
  it("is given its knowledge, unless tools read it", async () => {
    const knowledge = [{ type: "file", id: file, name: "deed.txt" }];
    const make = (id: string, meta: object) =>
      call("POST /api/v1/models/create", { id, name: id, base_model_id: "alpha", meta, params: {} });
    await make("mill", { knowledge });
    await make("mill-given", { knowledge, builtinTools: { knowledge: false } });
    expect((await ask(stage, { model: "mill" })).told).toContain(sentence);
    const native = await askInChat(stage, { model: "mill" });
    expect([native.status, native.told.includes(sentence)]).toEqual([200, false]);
    expect((await askInChat(stage, { model: "mill-given" })).told).toContain(sentence);
  });
});

describe("a chat, a text and pages that come along", () => {
  it("are read as they stand", async () => {
    const { chatId } = await stage.makeChat("Where does the mill stand?");
    const docs = [
      { content: "The weir is old.", metadata: { source: "https://mill.example/weir", title: "Weir" } },
    ];
    const files = [
      { type: "chat", id: chatId },
      { type: "text", name: "Notes", content: "The wheel turns left." },
      { type: "web_search", name: "weir", docs },
    ];
    const { body, told } = await ask(stage, { files });
    expect(body.sources.map(({ source }: { source: object }) => source)).toEqual([
      { id: chatId, name: "A chat", type: "chat" },
      { id: "Notes#1", name: "Notes", type: "text" },
      { id: "https://mill.example/weir", name: "Weir", type: "url", url: "https://mill.example/weir" },
    ]);
    expect(told).toContain("User: Where does the mill stand?");
    expect(told).toContain("The wheel turns left.");
    expect(told).toContain("The weir is old.");
    const stranger = await stage.app.user();
    expect((await ask(stage, { files: [{ type: "chat", id: chatId }] }, stranger.token)).status).toBe(404);
  });

  it("that nobody knows are refused", async () => {
    for (const item of [
      { type: "collection", id: "unknown" },
      { type: "note", id: "n" },
      { type: "chat", id: "c" },
    ]) {
      expect((await ask(stage, { files: [item] })).status).toBe(404);
    }
    expect((await ask(stage, { files: [{ type: "url", url: "no address" }] })).status).toBe(400);
  });
});
