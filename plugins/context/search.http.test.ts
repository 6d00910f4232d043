import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { type RunStage, startRunStage } from "#plugins/runs/runs.fixture.ts";
import { text } from "#test/support/upstream-scripts.ts";
import { addFile, ask, askInChat, deed } from "./context.fixture.ts";

// Vectors of the first test are still made while the next ones ask.
vi.setConfig({ testTimeout: 90_000 });

// Passages that a question finds, in files and collections (contract §3.2, step 11; §6.3).

let stage: RunStage;
let file: string;
beforeAll(async () => {
  stage = await startRunStage({
    env: {
      OPENAI_API_CONFIGS: JSON.stringify({ 0: { access: "everyone" } }),
      ENABLE_RETRIEVAL_QUERY_GENERATION: "true",
    },
  });
  file = await addFile(stage, "deed.txt", deed);
});
afterAll(() => stage?.close());
beforeEach(() => stage.upstream.always("/chat/completions", text("Ada [1].")));

const sentence = "The sluice gate belongs to Ada Marten.";
const call = (route: string, body?: unknown, token = stage.user.token) =>
  stage.app.call(route, { token, body });
const isTask = ({ body }: { body?: { stream?: boolean } }) => body?.stream === false;
const write = (answer: string) => stage.upstream.reply(isTask, text(answer));

describe("a question about files", () => {
  it("is put into queries by a task model; the reply tells them, and each passage its place and scores", async () => {
    write('{"queries": ["owner of the sluice gate"]}');
    const messages = [
      { role: "user", content: "I am reading the deed." },
      { role: "assistant", content: "Good." },
      { role: "user", content: "Whose is it?" },
    ];
    const { reply, told } = await askInChat(stage, { messages, files: [{ type: "file", id: file }] });
    expect(told).toContain(sentence);
    expect(reply.statusHistory).toMatchObject([
      { action: "queries_generated", queries: ["owner of the sluice gate"], done: false },
      { action: "knowledge_search", query: "owner of the sluice gate", done: false },
      { action: "sources_retrieved", count: 1, done: true },
    ]);
    const [{ document, metadata, distances }] = reply.sources;
    expect(document[0]).toContain(sentence);
    expect(document.length).toBeLessThan(6);
    expect(metadata[0]).toMatchObject({
      file_id: file,
      score: distances[0],
      scores: { keyword: expect.any(Number) },
    });
    expect(metadata[0].score).toBeGreaterThan(0.3);
  });

  it("is searched for as it was asked where the task model gives no queries", async () => {
    for (const answer of ["no idea", '{"queries": []}']) {
      write(answer);
      const { told, reply } = await askInChat(stage, { files: [{ type: "file", id: file }] });
      expect(told).toContain(sentence);
      expect(reply.statusHistory.at(-1)).toMatchObject({ action: "sources_retrieved" });
    }
  });

  it("asks no task model where all is given whole", async () => {
    const before = stage.upstream.requests.filter(isTask).length;
    await askInChat(stage, { files: [{ type: "file", id: file, context: "full" }] });
    expect(stage.upstream.requests.filter(isTask).length).toBe(before);
  });
});

describe("a collection", () => {
  it("is asked by those who may read it, as passages or whole, and told when it is gone", async () => {
    const { body: made } = await call("POST /api/v1/knowledge/create", { name: "Deeds", description: "" });
    expect((await call(`POST /api/v1/knowledge/${made.id}/file/add`, { file_id: file })).status).toBe(200);
    const item = { type: "collection", id: made.id, name: "Deeds" };
    write('{"queries": ["sluice gate"]}');
    const found = await ask(stage, { files: [item], stream: true });
    expect(found.told).toContain(sentence);
    const whole = await ask(stage, { files: [{ ...item, context: "full" }] });
    expect(whole.body.sources).toMatchObject([{ source: { id: file, name: "deed.txt", type: "file" } }]);
    expect(whole.body.sources[0].document).toEqual([deed]);
    const stranger = await stage.app.user();
    expect((await ask(stage, { files: [item] }, stranger.token)).status).toBe(404);

    const chat = await stage.makeChat();
    const question = {
      id: crypto.randomUUID(),
      content: "Who owns the sluice gate?",
      files: [item],
      parentId: chat.replyId,
    };
    expect((await call(`DELETE /api/v1/knowledge/${made.id}/delete`)).status).toBe(200);
    const { reply } = await askInChat(stage, {
      chat: { ...chat, replyId: crypto.randomUUID() },
      user_message: question,
      parent_id: chat.replyId,
    });
    expect(reply.content).toBe("Ada [1].");
    // Administrators may ask every collection, also one that is gone: nothing is found in it then.
    expect([reply.sources, reply.statusHistory.at(-1).count ?? 0]).toEqual([undefined, 0]);
  });
});

describe("a page", () => {
  it("that may not be loaded is told with the reason", async () => {
    const { reply } = await askInChat(stage, {
      files: [{ type: "url", url: "http://127.0.0.1:9/", name: "Mill" }],
    });
    expect(reply.content).toBe("Ada [1].");
    expect(reply.statusHistory[0].description).toMatch(/^“Mill” could not be read: ./);
  });
});

describe("RAG_FULL_CONTEXT", () => {
  it("gives whole documents", async () => {
    const setting = (value: boolean) => call("POST /api/v1/configs/settings", { RAG_FULL_CONTEXT: value });
    expect((await setting(true)).status).toBe(200);
    const { body } = await ask(stage, { files: [{ type: "file", id: file }] });
    expect(body.sources[0].document).toEqual([deed]);
    await setting(false);
  });
});
