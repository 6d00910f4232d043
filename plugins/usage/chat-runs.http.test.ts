import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type RunStage, startRunStage } from "#plugins/runs/runs.fixture.ts";
import { sse, text } from "#test/support/upstream-scripts.ts";
import { textChunks, toolCallChunks } from "#test/support/upstream-chunks.ts";

let stage: RunStage;
// It counts the calls of everybody.
beforeAll(async () => void (stage = await startRunStage({ isAlone: true })));
afterAll(() => stage?.close());

type Row = Record<string, unknown> & { usage: { input_tokens: number } };

async function records(query: string, count: number): Promise<Row[]> {
  let rows: Row[] = [];
  const path = `GET /api/v1/analytics/messages?${query}`;
  await expect.poll(async () => (rows = (await stage.user.call(path)).body).length).toBe(count);
  return rows;
}

const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };

it("says of a chat's calls which chat and message they were for, and what the platform asked beside them", async () => {
  const { chatId, userId, replyId } = await stage.makeChat();
  stage.upstream.always("/chat/completions", text("A title", { usage }));
  stage.upstream.reply("/chat/completions", sse(textChunks("Hello there", { usage })));
  await stage.complete({
    chat_id: chatId,
    id: replyId,
    user_message: { id: userId },
    background_tasks: { title_generation: true },
  });
  await stage.ended(chatId);
  const rows = await records(`chat_id=${chatId}`, 2);
  expect(rows.find(({ task }) => task === null)).toMatchObject({
    message_id: replyId,
    model_id: "alpha",
    wire: "chat",
    usage: { input_tokens: 10, output_tokens: 5 },
    estimated: false,
    outcome: "completed",
  });
  expect(rows.find(({ task }) => task === "title_generation")).toMatchObject({ usage: { input_tokens: 10 } });
});

it("keeps the model's calls of tools, and no id of a temporary chat", async () => {
  const call = { id: "c1", name: "look_up", arguments: "{}" };
  stage.upstream.reply("/chat/completions", sse(toolCallChunks([call, { ...call, id: "c2" }], { usage })));
  const body = {
    chat_id: `temporary:${randomUUID()}`,
    id: randomUUID(),
    tools: [{ type: "function", function: { name: "look_up" } }],
  };
  expect((await stage.complete(body)).status).toBe(200);
  const rows = await records("limit=100", 3);
  expect(rows.find(({ chat_id: id }) => id === null)).toMatchObject({ tools: ["look_up", "look_up"] });
  const own = await stage.user.call("GET /api/v1/users/usage");
  expect(own.body.top_tools).toEqual([{ name: "look_up", count: 2 }]);
});
