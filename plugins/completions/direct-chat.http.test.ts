import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type RunStage, startRunStage } from "#plugins/runs/runs.fixture.ts";
import { chunk, textChunks } from "#test/support/upstream-chunks.ts";
import { sse, text, tokens } from "#test/support/upstream-scripts.ts";
import { outlets, probes } from "./reply/probes.fixture.ts";

const path = "/chat/completions";
let stage: RunStage;
let quiet: RunStage;

beforeAll(async () => {
  stage = await startRunStage({ plugins: [probes] });
  quiet = await startRunStage({ plugins: [probes], env: { ENABLE_API_OUTLET_FILTERS: "false" } });
});
afterAll(async () => {
  await stage?.close();
  await quiet?.close();
});
beforeEach(() => void (outlets.length = 0));

const overHttp = { session_id: undefined };

describe("outlet filters of answers over HTTP", () => {
  it("see what can be read of an upstream's odd frames, and the service goes on", async () => {
    const odd = ["data: null\n\n", "data: 5\n\n", 'data: {"choices":[null]}\n\n'];
    const calls = { choices: [{ index: 0, delta: { tool_calls: [null] } }] };
    stage.upstream.reply(path, sse([...odd, ...textChunks("Hello"), calls]));
    expect((await stage.complete({ ...overHttp, filter_ids: ["keep"] })).status).toBe(200);
    await expect.poll(() => outlets.at(-1)?.messages.at(-1)).toMatchObject({ content: "Hello" });
    expect((await stage.app.call("GET /health")).status).toBe(200);
  });

  it("do not see half of a reply whose reader left", async () => {
    const leave = async (filter_ids: string[], seed: number) => {
      stage.upstream.reply(path, tokens(500, 10));
      const asked = stage.upstream.nextRequest(({ body }) => body?.seed === seed);
      const leaving = new AbortController();
      const answer = await fetch(`${stage.app.url}/api/chat/completions`, {
        method: "POST",
        signal: leaving.signal,
        headers: { authorization: `Bearer ${stage.user.token}`, "content-type": "application/json" },
        body: JSON.stringify({
          model: "alpha",
          stream: true,
          messages: [{ role: "user", content: "Hi" }],
          filter_ids,
          seed,
        }),
      });
      await answer.body?.getReader().read();
      leaving.abort();
      await (
        await asked
      ).aborted;
    };
    await leave(["mark", "keep"], 35);
    await leave(["keep"], 34);
    // What comes after them is seen, so that what they left had its time.
    stage.upstream.reply(path, text("Whole"));
    await stage.complete({ ...overHttp, filter_ids: ["keep"] });
    await expect.poll(() => outlets.length).toBeGreaterThan(0);
    expect(outlets.map(({ messages }) => messages.at(-1))).toMatchObject([{ content: "Whole" }]);
  });

  it("can be switched off, which chats do not heed", async () => {
    quiet.upstream.reply(path, text("Over HTTP"));
    await quiet.complete({ ...overHttp, filter_ids: ["keep"] });
    quiet.upstream.reply(path, text("In a chat"));
    const { chatId, replyId } = await quiet.makeChat();
    await quiet.complete({ chat_id: chatId, id: replyId, filter_ids: ["keep"] });
    await expect.poll(() => outlets.length).toBeGreaterThan(0);
    await quiet.ended(chatId);
    expect(outlets.map(({ messages }) => messages.at(-1))).toMatchObject([{ content: "In a chat" }]);
    expect((await quiet.message(chatId, replyId)).content).toBe("filtered");
  });
});

describe("an answer over HTTP in a stored chat", () => {
  const call = (route: string, body: unknown) => stage.user.call(route, body);

  it("gets the folder's prompt and the variables that the chat keeps", async () => {
    const folder = await call("POST /api/v1/folders/", {
      name: "Poems",
      data: { system_prompt: "Answer in rhyme." },
    });
    const chat = { title: "T", models: ["alpha"] };
    const variables = { city: "Rome", tone: "warm" };
    const made = await call("POST /api/v1/chats/new", { chat, folder_id: folder.body.id, variables });
    const params = { system: "Be {{chat.variables.tone}} about {{chat.variables.city}}." };
    await call("POST /api/v1/models/create", {
      id: "guided",
      name: "Guided",
      base_model_id: "alpha",
      meta: {},
      params,
    });
    stage.upstream.reply(path, text("Yes"));
    const asked = stage.upstream.nextRequest(({ body }) => body?.seed === 31);
    const answer = await stage.complete({
      ...overHttp,
      model: "guided",
      stream: false,
      seed: 31,
      chat_id: made.body.id,
      chat_variables: { tone: "calm" },
    });
    expect(answer.status).toBe(200);
    expect((await asked).body.messages[0]).toEqual({
      role: "system",
      content: "Be calm about Rome.\n\nAnswer in rhyme.",
    });
  });

  it("shows the model the caller's pictures that are files here (contract §3.2, step 4)", async () => {
    const form = new FormData();
    form.append("file", new Blob(["picture"], { type: "image/png" }), "a.png");
    const made = await call("POST /api/v1/files/?process=false", form);
    const toPart = (id: string) => ({ type: "image_url", image_url: { url: `/api/v1/files/${id}/content` } });
    stage.upstream.reply(path, sse([...textChunks("I see"), chunk({}, { finish: "stop" })]));
    const asked = stage.upstream.nextRequest(({ body }) => body?.seed === 32);
    await stage.complete({
      ...overHttp,
      seed: 32,
      messages: [{ role: "user", content: [toPart(made.body.id), toPart(randomUUID())] }],
    });
    const url = `data:image/png;base64,${Buffer.from("picture").toString("base64")}`;
    expect((await asked).body.messages[0].content).toEqual([{ type: "image_url", image_url: { url } }]);
  });

  it("is refused where it shows more pictures than fit into a request, however few files they are", async () => {
    const form = new FormData();
    form.append("file", new Blob([Buffer.alloc(15 * 2 ** 20)], { type: "image/png" }), "large.png");
    const made = await call("POST /api/v1/files/?process=false", form);
    const part = { type: "image_url", image_url: { url: `/api/v1/files/${made.body.id}/content` } };
    const content = Array.from({ length: 6 }, () => part);
    const answer = await stage.complete({ ...overHttp, seed: 33, messages: [{ role: "user", content }] });
    expect([answer.status, answer.body.detail]).toEqual([400, expect.stringContaining("100 MB together")]);
    expect(stage.upstream.requests.filter(({ body }) => body?.seed === 33)).toEqual([]);
  });
});
