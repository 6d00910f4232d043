import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startRunStage, type RunStage } from "#plugins/runs/runs.fixture.ts";
import { text } from "#test/support/upstream-scripts.ts";

// What a request names and nothing here can honour is refused, or said to be left out (contract D.37).

let stage: RunStage;
beforeAll(async () => {
  stage = await startRunStage({
    env: { OPENAI_API_CONFIGS: JSON.stringify({ 0: { access: "everyone" } }) },
  });
  stage.upstream.always("/chat/completions", text("Hello."));
});
afterAll(() => stage?.close());

const question = { model: "alpha", messages: [{ role: "user", content: "Hi" }] };
const ask = (more: object, token = stage.user.token) =>
  stage.app.call("POST /api/chat/completions", { token, body: { ...question, ...more } });

async function upload(token: string): Promise<string> {
  const body = new FormData();
  body.append("file", new Blob(["words"], { type: "text/plain" }), "words.txt");
  const answer = await stage.app.call("POST /api/v1/files/", { token, body });
  expect(answer.status).toBe(200);
  return answer.body.id;
}

describe("files", () => {
  it("that are unknown or another person's are refused alike", async () => {
    const other = await stage.app.user();
    const foreign = await upload(other.token);
    const user = await stage.app.user();
    for (const id of ["unknown", foreign]) {
      const answer = await ask({ files: [{ type: "file", id }] }, user.token);
      expect([answer.status, answer.body.detail]).toEqual([404, "File not found"]);
    }
    expect((await ask({ files: [{ type: "file", id: foreign }] }, other.token)).status).toBe(200);
  });

  it("are looked for in runs of chats before anything is written", async () => {
    const { chatId, replyId } = await stage.makeChat();
    const files = [{ type: "collection", id: "unknown" }];
    const answer = await stage.complete({ chat_id: chatId, id: replyId, files });
    expect(answer.status).toBe(404);
    expect((await stage.message(chatId, replyId)).done).toBe(false);
  });

  it("of a type that nothing reads are refused", async () => {
    expect((await ask({ files: [{ type: "cupboard", content: "words" }] })).status).toBe(400);
    expect((await ask({ files: [{ type: "cupboard", id: "c-1" }] })).status).toBe(404);
  });
});

describe("features that nothing serves", () => {
  const features = { web_search: true, memory: false, image_generation: true, voice: true };
  const told = "features.web_search, features.image_generation";

  it.each([{}, { stream: true }, { stream: true, params: { stream_delta_chunk_size: 5 } }])(
    "stand in a header: %j",
    async (more) => {
      const answer = await ask({ features, ...more });
      expect([answer.status, answer.headers.get("x-service-ignored")]).toEqual([200, told]);
      expect((await ask({ features: { voice: true }, ...more })).headers.get("x-service-ignored")).toBeNull();
    },
  );

  it("are told in the status of a reply that is kept", async () => {
    const { chatId, replyId } = await stage.makeChat();
    await stage.complete({ chat_id: chatId, id: replyId, features });
    await stage.ended(chatId);
    const { statusHistory, content } = await stage.message(chatId, replyId);
    expect(content).toBe("Hello.");
    expect(statusHistory).toMatchObject([
      { feature: "web_search", done: true, description: expect.stringContaining('"web search"') },
      { feature: "image_generation" },
    ]);
  });
});
