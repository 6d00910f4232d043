import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { chatClient } from "#plugins/chats/chats.fixture.ts";
import { failure, text } from "#test/support/upstream-scripts.ts";
import {
  type CompactionStage,
  defaults,
  isReplyCall,
  isSummaryCall,
  startCompactionStage,
} from "./compaction.fixture.ts";

let stage: CompactionStage;

beforeAll(async () => {
  stage = await startCompactionStage();
});
afterAll(() => stage?.close());
beforeEach(async () => {
  await stage.set({ ...defaults, ENABLE_CONTEXT_COMPACTION: true });
});

const lastCall = (fits: typeof isSummaryCall = isSummaryCall) => stage.upstream.requests.findLast(fits)?.body;

describe("settings", () => {
  it("are read and changed by administrators", async () => {
    await stage.set(defaults);
    const { body } = await stage.user.call("GET /api/v1/chats/config");
    expect(body).toEqual({
      ENABLE_CONTEXT_COMPACTION: false,
      CONTEXT_COMPACTION_MODEL: "",
      CONTEXT_COMPACTION_TOKEN_THRESHOLD: 80_000,
      CONTEXT_COMPACTION_TOKEN_CAP: null,
      CONTEXT_COMPACTION_RETENTION_PERCENTAGE: 40,
      CONTEXT_COMPACTION_PROMPT_TEMPLATE: "",
    });
    const changed = await stage.set({
      CONTEXT_COMPACTION_TOKEN_THRESHOLD: 500,
      CONTEXT_COMPACTION_TOKEN_CAP: 900,
    });
    expect(changed.body).toEqual({
      ...body,
      CONTEXT_COMPACTION_TOKEN_THRESHOLD: 500,
      CONTEXT_COMPACTION_TOKEN_CAP: 900,
    });
    const wrong = await stage.set({ CONTEXT_COMPACTION_TOKEN_THRESHOLD: 0 });
    expect([wrong.status, /TOKEN_THRESHOLD/.test(wrong.text)]).toEqual([422, true]);
    const user = await stage.app.user();
    expect((await user.call("GET /api/v1/chats/config")).status).toBe(403);
    expect((await user.call("POST /api/v1/chats/config", {})).status).toBe(403);
  });

  it("say in the public configuration whether it is on", async () => {
    expect((await stage.user.call("GET /api/config")).body.features.enable_context_compaction).toBe(true);
  });
});

describe("how full the context is", () => {
  it("stands with the chat while compaction is on", async () => {
    const id = await stage.talk(3, { prompt_tokens: 700, completion_tokens: 50 });
    expect((await stage.me.read(id)).context_usage).toEqual({ tokens: 750, threshold: 80_000 });
    await stage.set(defaults);
    expect(await stage.me.read(id)).toMatchObject({ context_usage: null });
  });

  it("is estimated where the upstream told nothing", async () => {
    const id = await stage.talk(2);
    const chars = ["question 1", "answer 1", "question 2", "answer 2"].map(
      (words) => Math.ceil(words.length / 4) + 4,
    );
    const tokens = chars.reduce((sum, one) => sum + one, 0);
    expect((await stage.me.read(id)).context_usage).toEqual({ tokens, threshold: 80_000 });
  });

  it("is measured against the model's own threshold", async () => {
    const body = {
      id: "alpha",
      name: "alpha",
      base_model_id: null,
      meta: {},
      params: { compact_token_threshold: 600 },
    };
    expect((await stage.user.call("POST /api/v1/models/create", body)).status).toBe(200);
    const id = await stage.talk(1, { prompt_tokens: 10, completion_tokens: 5 });
    expect((await stage.me.read(id)).context_usage).toEqual({ tokens: 15, threshold: 600 });
    await stage.user.call("POST /api/v1/models/model/delete", { id: "alpha" });
  });
});

describe("compacting on request", () => {
  it("keeps reasoning in tags out of the summary", async () => {
    const id = await stage.talk(5);
    stage.upstream.reply(isSummaryCall, text("<think>Hm</think>\nThey talked about questions."));
    expect((await stage.me.call(`POST /${id}/compact`)).body.summary).toBe("They talked about questions.");
  });

  it("stores a summary of what is long ago; the next run reads it instead", async () => {
    const id = await stage.talk(5, { prompt_tokens: 700, completion_tokens: 50 });
    const client = await stage.connect();
    stage.upstream.reply(isSummaryCall, text("They talked about questions."));
    const answer = await stage.me.call(`POST /${id}/compact`);
    expect(answer.status, answer.text).toBe(200);
    expect(answer.body).toEqual({
      chat_id: id,
      message_id: "a3",
      summary: "They talked about questions.",
      context_usage: { tokens: expect.any(Number), threshold: 80_000 },
    });
    const [prompt] = lastCall().messages;
    expect(prompt.content).toContain("USER:\nquestion 1\n\nASSISTANT:\nanswer 1");
    expect(prompt.content).not.toContain("question 4");
    const chat = await stage.me.read(id);
    expect(chat.chat.history.messages.a3.contextSummary).toBe("They talked about questions.");
    expect(chat.context_usage).toEqual(answer.body.context_usage);
    expect(chat.context_usage.tokens).toBeLessThan(750);
    const isOf = (type: string) => (_event: string, data: { chat_id?: string; data?: { type: string } }) =>
      data?.chat_id === id && data.data?.type === type;
    await client.event(isOf("chat:reload"));
    const statuses = client.events.map(({ data }) => data).filter((data) => isOf("status")("", data));
    expect(statuses.map(({ data }) => [data.data.action, data.data.done])).toEqual([
      ["context_compaction", false],
      ["context_compaction", true],
    ]);
    stage.upstream.reply(text("Fine"));
    await stage.ask(id, "a5");
    const { messages } = lastCall(isReplyCall);
    expect(messages).toEqual([
      { role: "system", content: expect.stringContaining("They talked about questions.") },
      { role: "user", content: "question 4" },
      { role: "assistant", content: "answer 4" },
      { role: "user", content: "question 5" },
      { role: "assistant", content: "answer 5" },
      { role: "user", content: "And now?" },
    ]);
  });

  it("again builds on the last summary", async () => {
    const id = await stage.talk(5);
    stage.upstream.reply(isSummaryCall, text("first"));
    await stage.me.call(`POST /${id}/compact`);
    stage.upstream.reply(isSummaryCall, text("second"));
    expect((await stage.me.call(`POST /${id}/compact`)).body).toMatchObject({
      message_id: "a4",
      summary: "second",
    });
    const { content } = lastCall().messages[0];
    expect(content).toMatch(/summary of what came before -----\nfirst\n/);
    expect(content).toContain("question 4");
    expect(content).not.toContain("question 3");
  });

  it("reads of results of tools what can be read, whoever wrote them", async () => {
    const id = await stage.talk(5);
    const result = { type: "function_call_output", call_id: "c" };
    const output = [
      null,
      5,
      { ...result, output: [null, { text: "in parts" }] },
      { ...result, output: "plain" },
    ];
    await stage.me.call(`POST /${id}`, { chat: { history: { messages: { a1: { output } } } } });
    stage.upstream.reply(isSummaryCall, text("They talked."));
    expect((await stage.me.call(`POST /${id}/compact`)).body).toMatchObject({ summary: "They talked." });
    expect(lastCall().messages[0].content).toContain(
      "ASSISTANT:\n(result: in parts)\n(result: plain)\nanswer 1",
    );
  });

  it("asks the named model, else the one that is set for it", async () => {
    const id = await stage.talk(3);
    await stage.set({
      CONTEXT_COMPACTION_MODEL: "beta",
      CONTEXT_COMPACTION_PROMPT_TEMPLATE: "Short: {{MESSAGES}}",
    });
    for (const [body, model] of [
      [{}, "beta"],
      [{ model: "alpha" }, "alpha"],
    ] as const) {
      const fresh = model === "beta" ? id : await stage.talk(3);
      stage.upstream.reply(isSummaryCall, text("summary"));
      expect((await stage.me.call(`POST /${fresh}/compact`, body)).status).toBe(200);
      const sent = lastCall();
      expect([sent.model, sent.messages[0].content.slice(0, 12)]).toEqual([model, "Short: USER:"]);
    }
    expect((await stage.me.call(`POST /${await stage.talk(3)}/compact`, { model: "ghost" })).status).toBe(
      404,
    );
  });

  it("is refused while it is off, while a reply is written, and when there is nothing to summarise", async () => {
    const [id, short] = [await stage.talk(3), await stage.talk(1)];
    expect((await stage.me.call(`POST /${short}/compact`)).status).toBe(400);
    const runId = randomUUID();
    await stage.replies.begin({ chatId: id, messageId: "a3", runId, keeps: true });
    expect((await stage.me.call(`POST /${id}/compact`)).status).toBe(409);
    await stage.replies.finish({ chatId: id, messageId: "a3", runId, seq: 1, state: {} });
    await stage.set(defaults);
    expect((await stage.me.call(`POST /${id}/compact`)).status).toBe(403);
  });

  it("tells what the provider says, and changes nothing then", async () => {
    const id = await stage.talk(3);
    stage.upstream.reply(isSummaryCall, failure(429, "Slow down"));
    const refused = await stage.me.call(`POST /${id}/compact`);
    expect([refused.status, refused.text]).toEqual([429, expect.stringContaining("Slow down")]);
    stage.upstream.reply(isSummaryCall, text(" "));
    expect((await stage.me.call(`POST /${id}/compact`)).status).toBe(502);
    expect((await stage.me.read(id)).chat.history.messages.a1).not.toHaveProperty("contextSummary");
  });

  it("is for owners: nobody else can tell that the chat is there", async () => {
    const id = await stage.talk(3);
    const other = chatClient(stage.app, (await stage.app.user()).token);
    const [foreign, absent] = [
      await other.call(`POST /${id}/compact`),
      await other.call(`POST /${randomUUID()}/compact`),
    ];
    expect([foreign.status, foreign.text]).toEqual([404, absent.text]);
  });

  it("happens once at a time", async () => {
    const id = await stage.talk(3);
    stage.upstream.reply(isSummaryCall, async (exchange) => {
      await exchange.wait(1_500);
      await text("slow")(exchange);
    });
    const both = await Promise.all([
      stage.me.call(`POST /${id}/compact`),
      stage.me.call(`POST /${id}/compact`),
    ]);
    expect(both.map(({ status, body }) => [status, body.summary])).toEqual([
      [200, "slow"],
      [200, "slow"],
    ]);
  });
});
