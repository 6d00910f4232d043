import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { indexFile } from "#plugins/retrieval/client.fixture.ts";
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

describe("a run whose chat has outgrown its model", () => {
  it("compacts it first, and tells", async () => {
    await stage.set({ CONTEXT_COMPACTION_TOKEN_THRESHOLD: 500 });
    const id = await stage.talk(4, { prompt_tokens: 700, completion_tokens: 50 });
    const client = await stage.connect();
    stage.upstream.reply(isSummaryCall, text("Long ago."));
    stage.upstream.reply(isReplyCall, text("Fine"));
    const { userId, replyId } = await stage.ask(id, "a4");
    const { messages } = lastCall(isReplyCall);
    expect(messages[0].content).toContain("Long ago.");
    expect(messages.slice(1).map(({ content }: { content: string }) => content)).toEqual([
      "question 3",
      "answer 3",
      "question 4",
      "answer 4",
      "And now?",
    ]);
    const chat = await stage.me.read(id);
    expect(chat.chat.history.messages.a2.contextSummary).toBe("Long ago.");
    expect(chat.chat.history.messages[userId].contextTokens).toBeLessThan(750);
    expect(chat.chat.history.messages[replyId]).toMatchObject({ content: "Fine", done: true });
    const told = client.events
      .map(({ data }) => data)
      .filter((data) => data?.message_id === replyId && data.data.type === "status");
    expect(told.map(({ data }) => [data.data.action, data.data.done])).toEqual([
      ["context_compaction", false],
      ["context_compaction", true],
    ]);
    // The status stays with the reply.
    expect(chat.chat.history.messages[replyId].statusHistory).toEqual(told.map(({ data }) => data.data));
  });

  it("keeps the files that were named before what it summarised", async () => {
    await stage.set({ CONTEXT_COMPACTION_TOKEN_THRESHOLD: 500 });
    const { token } = stage.user;
    const file = await indexFile(stage.app, token, ["mill.md", "The sluice opens at dawn."]);
    const id = await stage.talk(4, { prompt_tokens: 700, completion_tokens: 50 });
    await stage.app.running.database.query(
      "update chat_message set files = $2::jsonb where chat_id = $1 and id = 'u1'",
      [id, JSON.stringify([{ type: "file", id: file, name: "mill.md" }])],
    );
    stage.upstream.reply(isSummaryCall, text("Long ago."));
    stage.upstream.reply(isReplyCall, text("Fine"));
    const { replyId } = await stage.ask(id, "a4");
    expect(JSON.stringify(lastCall(isReplyCall).messages)).toContain("The sluice opens at dawn.");
    // The branch is read from its summary on now, and the file stands before it.
    stage.upstream.reply(isReplyCall, text("Fine again"));
    await stage.ask(id, replyId);
    const { messages } = lastCall(isReplyCall);
    expect(JSON.stringify(messages)).not.toContain("question 1");
    expect(JSON.stringify(messages)).toContain("The sluice opens at dawn.");
  });

  it("goes on without a summary when none can be made", async () => {
    await stage.set({ CONTEXT_COMPACTION_TOKEN_THRESHOLD: 500 });
    const id = await stage.talk(3, { prompt_tokens: 700, completion_tokens: 50 });
    stage.upstream.reply(isSummaryCall, failure(500, "broken"));
    stage.upstream.reply(isReplyCall, text("Fine"));
    const { replyId } = await stage.ask(id, "a3");
    expect(lastCall(isReplyCall).messages.length).toBe(7);
    expect(await stage.message(id, replyId)).toMatchObject({
      content: "Fine",
      done: true,
      statusHistory: [
        { action: "context_compaction", done: false },
        { action: "context_compaction", done: true, description: expect.stringContaining("could not") },
      ],
    });
  });

  it("leaves it alone while compaction is off, but reads summaries that are there", async () => {
    const id = await stage.talk(5);
    stage.upstream.reply(isSummaryCall, text("Long ago."));
    await stage.me.call(`POST /${id}/compact`);
    await stage.set({ ...defaults, CONTEXT_COMPACTION_TOKEN_THRESHOLD: 1 });
    stage.upstream.reply(isReplyCall, text("Fine"));
    const system = { role: "system", content: "Be brief." };
    await stage.ask(id, "a5", { messages: [system, { role: "user", content: "And now?" }] });
    const { messages } = lastCall(isReplyCall);
    expect([messages[0].role, messages.length]).toEqual(["system", 6]);
    // One system message: what was sent, and the summary behind it.
    expect(messages[0].content).toMatch(/^Be brief\.\n\nSummary of .*\n\nLong ago\.$/s);
    const { statusHistory } = (await stage.me.read(id)).chat.history.messages.a5;
    expect(statusHistory.map(({ done }: { done: boolean }) => done)).toEqual([false, true]);
  });
});
