import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { runs, toolbox } from "#plugins/completions/tools/tools.fixture.ts";
import { textChunks, toolCallChunks } from "#test/support/upstream-chunks.ts";
import { failure, sse, text, tokens } from "#test/support/upstream-scripts.ts";
import type { UpstreamRequest } from "#test/support/upstream-exchange.ts";
import { fromAssistant, fromTool, toolCall } from "#test/support/wire-parts.ts";
import { eventsOf, type RunStage, startRunStage } from "../runs.fixture.ts";

let stage: RunStage;

beforeAll(async () => {
  stage = await startRunStage({
    plugins: [toolbox],
    env: { CHAT_RESPONSE_MAX_TOOL_CALL_ITERATIONS: "3" },
  });
});
afterAll(() => stage?.close());
beforeEach(() => void (runs.length = 0));

const completions = (request: UpstreamRequest) => request.path.endsWith("/chat/completions");
const calling = (name: string, args = "{}", id = "call_1") =>
  sse(
    toolCallChunks([{ id, name, arguments: args }], { usage: { prompt_tokens: 10, completion_tokens: 4 } }),
  );

/** Runs a chat-bound completion to its end; answers the reply and what the upstream was asked for it. */
async function run(body: object) {
  const chat = await stage.makeChat();
  const before = stage.upstream.requests.filter(completions).length;
  const answer = await stage.complete({ chat_id: chat.chatId, id: chat.replyId, ...body });
  expect([answer.status, answer.text]).toEqual([200, expect.any(String)]);
  await stage.ended(chat.chatId);
  const asked = stage.upstream.requests.filter(completions).slice(before);
  return { ...chat, reply: await stage.message(chat.chatId, chat.replyId), asked };
}

describe("the native loop", () => {
  it("runs what the model calls, and asks again with the results", async () => {
    stage.upstream.reply(completions, calling("clock"));
    stage.upstream.reply(
      completions,
      sse(textChunks("It is noon.", { usage: { prompt_tokens: 30, completion_tokens: 6 } })),
    );
    const client = await stage.connect();
    const { reply, asked, replyId } = await run({});
    expect(runs).toEqual([{ name: "clock", parameters: {}, userId: stage.user.id }]);
    expect(asked[0]?.body.tools.map((tool: { function: { name: string } }) => tool.function.name)).toEqual(
      expect.arrayContaining(["clock", "vault", "broken"]),
    );
    expect(asked[1]?.body.messages.slice(1)).toEqual([
      fromAssistant("", { tool_calls: [toolCall("call_1", "clock", "{}")] }),
      fromTool("call_1", "It is noon."),
    ]);
    expect(reply.output.map(({ type }: { type: string }) => type)).toEqual([
      "function_call",
      "function_call_output",
      "message",
    ]);
    expect(reply).toMatchObject({
      content: "It is noon.",
      done: true,
      usage: {
        prompt_tokens: 30,
        completion_tokens: 6,
        input_tokens: 40,
        output_tokens: 10,
        total_tokens: 50,
      },
    });
    const outputs = eventsOf(client, replyId).filter(({ data }) => data.data.output && !data.data.done);
    expect(outputs.map(({ data }) => `${data.data.output[0].type} ${data.data.output[0].status}`)).toEqual([
      "function_call in_progress",
      "function_call completed",
      // Again as its tool begins: clients learn which one runs it, and where.
      "function_call completed",
      "function_call_output completed",
      "message in_progress",
      "message completed",
    ]);
  });

  it("tells clients between its rounds what the reply has cost so far", async () => {
    stage.upstream.reply(completions, calling("clock", "{}", "call_1"));
    stage.upstream.reply(completions, calling("clock", "{}", "call_2"));
    stage.upstream.reply(completions, text("Noon"));
    const client = await stage.connect();
    const { replyId } = await run({});
    const frames = eventsOf(client, replyId).map(({ data }) => data.data);
    const told = frames.filter(({ usage, done }) => usage && !done);
    const latest = { prompt_tokens: 10, completion_tokens: 4 };
    expect(told.map(({ usage }) => usage)).toEqual([
      { ...latest, input_tokens: 10, output_tokens: 4, total_tokens: 14 },
      { ...latest, input_tokens: 20, output_tokens: 8, total_tokens: 28 },
    ]);
    // Before the results of the calls that the round ended with.
    const results = frames.flatMap(({ output }, at) =>
      output?.[0]?.type === "function_call_output" ? at : [],
    );
    expect(frames.indexOf(told[0])).toBeLessThan(results[0] as number);
    expect(told.every((frame) => Object.keys(frame).join() === "usage")).toBe(true);
  });

  it("tells the model what went wrong, and nothing internal", async () => {
    const calls = [
      { id: "a", name: "broken", arguments: "{}" },
      { id: "b", name: "closed", arguments: "{}" },
      { id: "c", name: "missing", arguments: "{}" },
      { id: "d", name: "clock", arguments: "{not json" },
    ];
    stage.upstream.reply(completions, sse(toolCallChunks(calls)));
    stage.upstream.reply(completions, text("Sorry"));
    const { asked } = await run({});
    const results = asked[1]?.body.messages.filter(({ role }: { role: string }) => role === "tool");
    expect(results.map(({ content }: { content: string }) => content)).toEqual([
      "Error: The tool failed.",
      "Error: The archive is closed.",
      'Error: Tool "missing" not found.',
      'Error: The arguments of "clock" are not a JSON object.',
    ]);
  });

  it("ends at the cap with an error that says so, and a note on calls that repeat", async () => {
    for (let at = 0; at < 4; at += 1) {
      stage.upstream.reply(completions, calling("clock", "{}", `call_${at}`));
    }
    const { reply, asked } = await run({});
    expect(asked.length).toBe(4);
    expect(runs.length).toBe(3);
    expect(reply.error).toEqual({ content: "Tool-call limit reached (3 iterations)." });
    expect(reply.done).toBe(true);
    const last = asked[3]?.body.messages.at(-1).content as string;
    expect(last).toContain("It is noon.");
    expect(last).toContain("made before with the same result");
  });

  it("keeps what was said when a later round fails", async () => {
    stage.upstream.reply(completions, calling("clock"));
    stage.upstream.reply(completions, failure(500, "The model fell over"));
    const { reply } = await run({});
    expect(reply).toMatchObject({ done: true, error: { content: "The model fell over" } });
    expect(reply.output.length).toBe(2);
  });
});

describe("whose tools", () => {
  const names = (request: UpstreamRequest | undefined) =>
    request?.body.tools?.map((tool: { function: { name: string } }) => tool.function.name);

  it("those of the caller go upstream as they are, and calls stay unexecuted", async () => {
    const tools = [{ type: "function", function: { name: "mine", parameters: { type: "object" } } }];
    stage.upstream.reply(completions, calling("mine", '{"a":1}'));
    const { reply, asked } = await run({ tools, tool_ids: ["weather"] });
    expect(asked.length).toBe(1);
    expect(asked[0]?.body.tools).toEqual(tools);
    expect(reply.output).toMatchObject([{ type: "function_call", name: "mine", arguments: '{"a":1}' }]);
    expect(reply).toMatchObject({ done: true, content: "" });
    expect(reply.error).toBeUndefined();
  });

  it("others' are refused before anything is written or asked", async () => {
    const { chatId, replyId } = await stage.makeChat();
    const before = (await stage.user.call(`GET /api/v1/chats/${chatId}`)).body;
    const asked = stage.upstream.requests.length;
    const place = { chat_id: chatId, id: replyId, tool_ids: ["weather", "unknown"] };
    expect(await stage.complete(place)).toMatchObject({ status: 404, body: { detail: "Tool not found" } });
    const after = (await stage.user.call(`GET /api/v1/chats/${chatId}`)).body;
    expect(after).toEqual(before);
    expect(stage.upstream.requests.length).toBe(asked);
  });

  it("an empty list opts out of all", async () => {
    stage.upstream.reply(completions, text("None"));
    const { asked } = await run({ tools: [] });
    expect(asked[0]?.body.tools).toEqual([]);
  });

  it("without a session only those of tool_ids", async () => {
    stage.upstream.reply(completions, text("None"));
    expect(names((await run({ session_id: undefined })).asked[0])).toBeUndefined();
    stage.upstream.reply(completions, calling("forecast", '{"city": "Rome", "odd": 1}'));
    stage.upstream.reply(completions, text("Clear"));
    const { asked } = await run({ session_id: undefined, tool_ids: ["weather"] });
    expect(names(asked[0])).toEqual(["forecast", "warnings"]);
    expect(runs).toMatchObject([{ name: "forecast", parameters: { city: "Rome" } }]);
  });

  it("legacy mode lets a task model choose, and stores what was found as sources", async () => {
    stage.upstream.reply(
      (request) => completions(request) && request.body.stream === false,
      text('{"tool_calls": [{"name": "forecast", "parameters": {"city": "Rome"}}]}'),
    );
    stage.upstream.reply((request) => completions(request) && request.body.stream === true, text("Clear"));
    const { reply, asked } = await run({ params: { function_calling: "legacy" }, tool_ids: ["weather"] });
    expect(asked.at(-1)?.body.messages.at(-1).content).toContain('"sky"');
    expect(reply).toMatchObject({
      content: "Clear",
      sources: [{ source: { name: "weather/forecast" }, tool_result: true }],
    });
  });

  it("keeps what others cite while the reply is written", async () => {
    stage.upstream.reply(
      (request) => completions(request) && request.body.stream === false,
      text('{"tool_calls": [{"name": "forecast", "parameters": {"city": "Rome"}}]}'),
    );
    stage.upstream.reply((request) => completions(request) && request.body.stream === true, tokens(30, 50));
    const { chatId, replyId } = await stage.makeChat();
    const client = await stage.connect();
    const more = { params: { function_calling: "legacy" }, tool_ids: ["weather"] };
    await stage.complete({ chat_id: chatId, id: replyId, ...more });
    await client.event((_, data) => data?.message_id === replyId && data.data.type === "chat:message:delta");
    const cited = { source: { name: "Almanac" }, document: ["x"], metadata: [{ source: "a" }] };
    const event = await stage.user.call(`POST /api/v1/chats/${chatId}/messages/${replyId}/event`, {
      type: "source",
      data: cited,
    });
    expect(event.body).toBe(true);
    await stage.ended(chatId);
    const { sources } = await stage.message(chatId, replyId);
    expect(sources.map(({ source }: { source: { name: string } }) => source.name).toSorted()).toEqual([
      "Almanac",
      "weather/forecast",
    ]);
  });
});
