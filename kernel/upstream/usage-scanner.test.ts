import { describe, expect, it } from "vitest";
import type { Wire } from "#kernel/completion/model-call.ts";
import { toTokens } from "#kernel/completion/tokens.ts";
import { UsageScanner } from "./usage-scanner.ts";

function read(text: string, wire: Wire = "chat", size = text.length) {
  const tail = new UsageScanner(wire);
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) {
    tail.add(bytes.subarray(at, at + size));
  }
  return tail.finish();
}

const sse = (...values: unknown[]) => values.map((value) => `data: ${JSON.stringify(value)}\n\n`).join("");

const response = (item: object, length = 400) => ({
  object: "response",
  status: "completed",
  output: [{ type: "message", content: [{ type: "output_text", text: "x".repeat(length) }] }, item],
  tools: [{ type: "function", name: "unused" }],
  usage: null,
});

describe("reads an answer of the Responses format once, though its last event repeats it", () => {
  const items = {
    "type first": { type: "function_call", id: "fc_1", call_id: "c", name: "clock", arguments: "{}" },
    "name first": { arguments: "{}", call_id: "c", name: "clock", type: "function_call", id: "fc_1" },
  };
  const delta = { type: "response.output_text.delta", delta: "x".repeat(200) };
  const streamed = (item: object) =>
    sse(
      delta,
      delta,
      { type: "response.output_item.added", item: { ...item, arguments: "" } },
      { type: "response.output_item.done", item },
      { type: "response.completed", response: response(item) },
    );
  it.each(Object.entries(items))("with its %s", (_name, item) => {
    for (const text of [streamed(item), JSON.stringify(response(item))]) {
      expect(read(text, "responses", 100)).toMatchObject({ characters: 402, tools: ["clock"] });
    }
    // Of what is longer than the end that is kept, that end counts.
    const long = read(JSON.stringify(response(item, 40_000)), "responses", 100);
    expect(long.tools).toEqual(["clock"]);
    expect(long.characters).toBeGreaterThan(16_000);
  });
});

const spent = (prompt_tokens: number, completion_tokens: number) => ({ prompt_tokens, completion_tokens });

describe("finds what an answer cost", () => {
  it.each<[string, Wire, string, object]>([
    ["a chat stream", "chat", sse({ choices: [], usage: spent(3, 4) }), { input: 3, output: 4 }],
    [
      "usage on every chunk",
      "chat",
      sse({ usage: spent(3, 1) }, { usage: spent(3, 2) }),
      { input: 3, output: 2 },
    ],
    [
      "usage that is null at the end",
      "chat",
      sse({ usage: spent(3, 1) }, { usage: null }),
      { input: 3, output: 1 },
    ],
    ["a pretty answer", "chat", JSON.stringify({ usage: spent(3, 9) }, null, 2), { output: 9 }],
    [
      "a Responses stream",
      "responses",
      sse({
        type: "response.completed",
        response: {
          usage: { input_tokens: 5, output_tokens: 6, output_tokens_details: { reasoning_tokens: 2 } },
        },
      }),
      { input: 5, output: 6, reasoning: 2 },
    ],
    [
      "a vendor stream, whose input stands in its first event",
      "messages",
      sse(
        {
          type: "message_start",
          message: { usage: { input_tokens: 5, cache_read_input_tokens: 40, output_tokens: 1 } },
        },
        { type: "content_block_delta", delta: { text: "x".repeat(40_000) } },
        { type: "message_delta", usage: { output_tokens: 6 } },
      ),
      { input: 45, output: 6, cached: 40 },
    ],
    [
      "a line of the local runtime",
      "generate",
      `{"response":"a","done":false}\n{"done":true,"prompt_eval_count":7,"eval_count":8}\n`,
      { input: 7, output: 8 },
    ],
  ])("%s", (_what, wire, text, expected) => {
    for (const size of [text.length, 7, 1]) {
      const { usage, characters } = read(text, wire, size);
      expect(toTokens(usage!)).toMatchObject(expected);
      expect(characters).toBe(0);
    }
  });
});

it("is not taken in by a text that looks like usage", () => {
  const content = '"usage": {"prompt_tokens": 999999}';
  expect(read(sse({ choices: [{ delta: { content } }] })).usage).toBeUndefined();
});

it.each<[Wire, string, number]>([
  [
    "chat",
    sse({ choices: [{ delta: { content: "abcd" } }] }, { choices: [{ delta: { reasoning_content: "ef" } }] }),
    6,
  ],
  ["chat", sse({ choices: [{ delta: { tool_calls: [{ function: { name: "f", arguments: "{}" } }] } }] }), 2],
  [
    "responses",
    sse(
      { type: "response.output_text.delta", delta: "abc" },
      { type: "response.output_text.done", text: "abc" },
    ),
    3,
  ],
  ["messages", sse({ delta: { text: "abc" } }, { delta: { thinking: "de" } }), 5],
  ["embeddings", `{"data":[{"embedding":[1,2]}]}`, 0],
])("counts the characters of %s %#", (wire, text, characters) => {
  expect(read(text, wire)).toMatchObject({ usage: undefined, characters });
});

it.each([
  ["data: [DONE]\n\n", "done"],
  [sse({ choices: [{ finish_reason: "stop" }] }), "done"],
  [sse({ choices: [{ finish_reason: null }] }), "open"],
  [sse({ error: { message: "no" } }), "failed"],
  [sse({ type: "response.failed", response: {} }), "failed"],
  [sse({ choices: [{ delta: { content: 'data: {"error": 1}\ndata: [DONE]' } }] }), "open"],
])("tells how %j ended", (text, end) => expect(read(text).end).toBe(end));

it("names the tools that were called", () => {
  const call = (name: string | undefined, index: number) => ({
    choices: [
      { delta: { tool_calls: [{ index, id: "c", type: "function", function: { name, arguments: "" } }] } },
    ],
  });
  expect(read(sse(call("one", 0), call(undefined, 0), call("two", 1))).tools).toEqual(["one", "two"]);
  const item = { type: "function_call", id: "fc", call_id: "c", name: "three", arguments: "" };
  expect(
    read(
      sse({ type: "response.output_item.added", item }, { type: "response.output_item.done", item }),
      "responses",
    ).tools,
  ).toEqual(["three"]);
});

it.each([1, 7, 300, 1000, 16_384, 20_000, 100_000])(
  "keeps the end of what comes in pieces of %d bytes",
  (size) => {
    const long = sse(
      ...Array.from({ length: 900 }, (_, n) => ({ choices: [{ delta: { content: `word ${n}` } }] })),
    );
    const text = long + sse({ usage: spent(3, 900) });
    const { usage, end } = read(`${text}data: [DONE]\n\n`, "chat", size);
    expect(usage).toEqual(spent(3, 900));
    expect(end).toBe("done");
    const estimated = read(long, "chat", size);
    expect(estimated.usage).toBeUndefined();
    expect(estimated.characters / 900).toBeCloseTo(7.6, 0);
  },
);
