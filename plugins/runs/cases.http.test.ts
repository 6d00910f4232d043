import { afterAll, beforeAll, expect, it } from "vitest";
import { runs, toolbox } from "#plugins/completions/tools/tools.fixture.ts";
import { chunk, reasoningChunks, textChunks, toolCallChunks } from "#test/support/upstream-chunks.ts";
import { resetAfter } from "#test/support/upstream-faults.ts";
import { errorFrame, sse } from "#test/support/upstream-scripts.ts";
import type { Script } from "#test/support/upstream-exchange.ts";
import { eventsOf, type RunStage, startRunStage } from "./runs.fixture.ts";

// Protocol cases that a stored reply has to hold, each under the id that it has in the list of cases.

let stage: RunStage;

beforeAll(async () => {
  stage = await startRunStage({
    plugins: [toolbox],
    env: { CHAT_STREAM_RESPONSE_CHUNK_MAX_BUFFER_SIZE: "1000" },
  });
});
afterAll(() => stage?.close());

async function run(...scripts: Script[]) {
  const client = await stage.connect();
  const { chatId, replyId } = await stage.makeChat();
  scripts.forEach((script) => stage.upstream.reply("/chat/completions", script));
  await stage.complete({ chat_id: chatId, id: replyId });
  await stage.ended(chatId);
  return { reply: await stage.message(chatId, replyId), events: eventsOf(client, replyId) };
}

const shown = (output: { type: string; content: { text: string }[] }[]) =>
  output.map(({ type, content }) => [type, content.map(({ text }) => text).join("")]);
const thought = [
  ["reasoning", "a b"],
  ["message", "c"],
];

it("O10", async () => {
  const calling = (id: string, prompt: number) =>
    sse(
      toolCallChunks([{ id, name: "clock", arguments: "{}" }], {
        usage: { prompt_tokens: prompt, completion_tokens: 4, total_tokens: prompt + 4 },
      }),
    );
  const last = sse(
    textChunks("Noon", { usage: { prompt_tokens: 30, completion_tokens: 6, total_tokens: 36 } }),
  );
  runs.length = 0;
  const { reply } = await run(calling("one", 10), calling("two", 20), last);
  expect(runs).toHaveLength(2);
  expect(reply.usage).toMatchObject({
    prompt_tokens: 30,
    completion_tokens: 6,
    input_tokens: 60,
    output_tokens: 14,
    total_tokens: 74,
  });
});

it.each<[string, Script]>([
  ["O13", sse(reasoningChunks(["a ", "b"], ["c"]))],
  ["O14", sse(reasoningChunks(["a ", "b"], ["c"], { field: "reasoning" }))],
  ["O16", sse(textChunks(["<think>a b</think>c"]))],
  ["O16 with tags in pieces", sse(textChunks(["<th", "ink>a ", "b</thi", "nk>", "c"]))],
  ["O16 byte by byte", sse(textChunks([..."<think>a b</think>c"]), { split: "bytes" })],
])("%s", async (_id, script) => {
  const { reply } = await run(script);
  expect(shown(reply.output)).toEqual(thought);
  expect(reply.content).toBe("c");
});

it.each<[string, Script, RegExp]>([
  ["O27 an error frame", sse([chunk({ content: "Hello" }), errorFrame("Out of memory")]), /Out of memory/],
  ["O27 a reset", resetAfter(700, sse(textChunks("Hello two three four five six"))), /closed the connection/],
])("%s", async (_id, script, text) => {
  const { reply, events } = await run(script);
  expect(reply).toMatchObject({ done: true, content: expect.stringMatching(/^Hello/) });
  expect(reply.error.content).toMatch(text);
  expect(events.some(({ data }) => data.type === "chat:message:error")).toBe(true);
});

it("O28", async () => {
  const { reply } = await run(sse(textChunks(["a", "x".repeat(2000), "b"])));
  expect([reply.content, reply.error]).toEqual(["ab", undefined]);
});
