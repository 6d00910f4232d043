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

describe("items of files that name nothing", () => {
  it.each([
    [{ type: "file" }, "id"],
    [{ type: "collection", id: "" }, "id"],
    [{ type: "chat", name: "Old" }, "id"],
    [{ type: "url" }, "url"],
    [{ type: "text" }, "content"],
  ])("%j", async (item, field) => {
    const answer = await ask({ files: [{ type: "text", content: "words" }, item] });
    expect([answer.status, answer.body.detail]).toEqual([400, expect.stringContaining(`files.1.${field}: `)]);
  });

  it("may be searches without a result and empty texts", async () => {
    const files = [
      { type: "web_search", docs: [] },
      { type: "text", content: "" },
    ];
    expect((await ask({ files })).status).toBe(200);
  });
});

// Core API, chat completion request: what has the wrong type is refused under its name, in every mode.
describe("fields of the wrong type", () => {
  it.each([
    [{ user_message: "Hi" }, "user_message"],
    [{ parent_id: 5 }, "parent_id"],
    [{ message_ids: "m" }, "message_ids"],
    [{ folder_id: 5 }, "folder_id"],
    [{ skill_ids: "s" }, "skill_ids"],
    [{ features: { web_search: "yes" } }, "features.web_search"],
    [{ background_tasks: { title_generation: 1 } }, "background_tasks.title_generation"],
    [{ files: [{ type: "file", id: "f", status: 5 }] }, "files.0.status"],
    [{ params: { function_calling: 5 } }, "params.function_calling"],
    [{ params: { model_controls: { alpha: "warm" } } }, "params.model_controls.alpha"],
    [{ params: { temperature: "warm" } }, "params.temperature"],
    [{ presence_penalty: "x" }, "presence_penalty"],
    [{ stop: 1 }, "stop"],
    [{ logit_bias: 1 }, "logit_bias"],
    [{ messages: [{ role: "user", content: 5 }] }, "messages.0.content"],
  ])("%j", async (more, field) => {
    const answer = await ask(more);
    const [issue] = answer.body.detail;
    expect([answer.status, issue.loc.join(".")]).toEqual([400, `body.${field}`]);
    expect(issue.msg).not.toBe("Invalid input");
    expect(answer.body.error.message).toContain(`body.${field}: `);
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

describe("what else has no effect", () => {
  it("stands in the header over HTTP", async () => {
    const more = {
      filter_ids: ["redact", "redact"],
      background_tasks: { title_generation: true, tags: false },
    };
    const answer = await ask({ ...more, features: { web_search: true } });
    expect(answer.headers.get("x-service-ignored")).toBe(
      "features.web_search, filter_ids.redact, background_tasks.title_generation",
    );
  });

  it("is told in the status of a reply that is kept", async () => {
    const { chatId, replyId } = await stage.makeChat();
    const background_tasks = { title_generation: false };
    await stage.complete({ chat_id: chatId, id: replyId, filter_ids: ["redact"], background_tasks });
    await stage.ended(chatId);
    expect((await stage.message(chatId, replyId)).statusHistory).toMatchObject([
      { action: "filter_ignored", filter: "redact", description: expect.stringContaining('"redact"') },
    ]);
  });
});
