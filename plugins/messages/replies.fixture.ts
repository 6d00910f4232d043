import { chunk, reasoningChunks, textChunks, toolCallChunks } from "#test/support/upstream-chunks.ts";
import type { Frame } from "#test/support/upstream-scripts.ts";

const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
const weather = { id: "call_1", name: "weather", arguments: '{"city":"Łódź","days":3}' };
const clock = { id: "call_2", name: "clock", arguments: "{}" };

const call = (index: number, id: string | undefined, name: string | undefined, text: string) =>
  chunk({ tool_calls: [{ index, ...(id && { id }), function: { ...(name && { name }), arguments: text } }] });

/** Frames of the upstream with their blocks, stop reason and further keys. */
export const replies: Record<string, [frames: Frame[], content: object[], stop: string, more?: object]> = {
  "a text": [
    textChunks(["Hel", "lo"], { usage }),
    [{ type: "text", text: "Hello" }],
    "end_turn",
    { model: "alpha", usage: { input_tokens: 10, output_tokens: 5 } },
  ],
  "thoughts ahead of the text": [
    reasoningChunks(["Hm", "mm"], ["Yes"]),
    [
      { type: "thinking", thinking: "Hmmm", signature: "" },
      { type: "text", text: "Yes" },
    ],
    "end_turn",
  ],
  "thoughts under their other name": [
    reasoningChunks(["Hmm"], ["Yes"], { field: "reasoning" }),
    [
      { type: "thinking", thinking: "Hmm", signature: "" },
      { type: "text", text: "Yes" },
    ],
    "end_turn",
  ],
  "thoughts and text in one chunk": [
    [chunk({ reasoning_content: "a", content: "b" }, { finish: "stop" })],
    [
      { type: "thinking", thinking: "a", signature: "" },
      { type: "text", text: "b" },
    ],
    "end_turn",
  ],
  "a signed thought": [
    [
      chunk({ reasoning_content: "a" }),
      chunk({ reasoning_details: [{ type: "reasoning.text", signature: "sig" }] }),
      chunk({ content: "b" }, { finish: "stop" }),
    ],
    [
      { type: "thinking", thinking: "a", signature: "sig" },
      { type: "text", text: "b" },
    ],
    "end_turn",
  ],
  "a call in pieces": [
    toolCallChunks([weather], { pieces: 5 }),
    [{ type: "tool_use", id: "call_1", name: "weather", input: { city: "Łódź", days: 3 } }],
    "tool_use",
  ],
  "a call at once": [
    [call(0, "call_1", "weather", weather.arguments), chunk({}, { finish: "tool_calls" })],
    [{ type: "tool_use", id: "call_1", name: "weather", input: { city: "Łódź", days: 3 } }],
    "tool_use",
  ],
  "a call without arguments": [
    [call(0, "call_1", "clock", ""), chunk({}, { finish: "tool_calls" })],
    [{ type: "tool_use", id: "call_1", name: "clock", input: {} }],
    "tool_use",
  ],
  "two calls, their pieces interleaved": [
    toolCallChunks([weather, clock], { pieces: 3 }),
    [
      { type: "tool_use", id: "call_1", name: "weather", input: { city: "Łódź", days: 3 } },
      { type: "tool_use", id: "call_2", name: "clock", input: {} },
    ],
    "tool_use",
  ],
  "two calls, one after the other": [
    [call(0, "a", "one", '{"x"'), call(0, undefined, undefined, ":1}"), call(1, "b", "two", '{"y":2}')],
    [
      { type: "tool_use", id: "a", name: "one", input: { x: 1 } },
      { type: "tool_use", id: "b", name: "two", input: { y: 2 } },
    ],
    "tool_use",
  ],
  "two calls under one index": [
    [call(0, "a", "one", '{"x":1}'), call(0, "b", "two", '{"y":2}')],
    [
      { type: "tool_use", id: "a", name: "one", input: { x: 1 } },
      { type: "tool_use", id: "b", name: "two", input: { y: 2 } },
    ],
    "tool_use",
  ],
  "a call that goes on under a wrong index": [
    [call(0, "a", "one", '{"x"'), call(7, undefined, undefined, ":1}")],
    [{ type: "tool_use", id: "a", name: "one", input: { x: 1 } }],
    "tool_use",
  ],
  "a call whose id and name come again with every piece": [
    [call(0, "a", "one", '{"x"'), call(0, "a", "one", ":1}")],
    [{ type: "tool_use", id: "a", name: "one", input: { x: 1 } }],
    "tool_use",
  ],
  "text before and behind a call": [
    [
      chunk({ content: "Let me see. " }),
      call(0, "a", "one", '{"x":'),
      chunk({ content: "Done." }),
      call(0, undefined, undefined, "1}"),
    ],
    [
      { type: "text", text: "Let me see. " },
      { type: "tool_use", id: "a", name: "one", input: { x: 1 } },
      { type: "text", text: "Done." },
    ],
    "tool_use",
  ],
  "a call that ends with stop": [
    [call(0, "a", "one", "{}"), chunk({}, { finish: "stop" })],
    [{ type: "tool_use", id: "a", name: "one", input: {} }],
    "tool_use",
  ],
  "text and the finish in one chunk": [
    [chunk({ content: "All of it" }, { finish: "length" })],
    [{ type: "text", text: "All of it" }],
    "max_tokens",
  ],
  "usage on the finish chunk": [
    [{ ...chunk({ content: "Hi" }, { finish: "stop" }), usage }],
    [{ type: "text", text: "Hi" }],
    "end_turn",
    { usage: { input_tokens: 10, output_tokens: 5 } },
  ],
  "cached tokens": [
    textChunks("Hi", {
      usage: {
        ...usage,
        prompt_tokens: 100,
        prompt_tokens_details: { cached_tokens: 30 },
        service_tier: "priority",
      },
    }),
    [{ type: "text", text: "Hi" }],
    "end_turn",
    {
      usage: { input_tokens: 70, output_tokens: 5, cache_read_input_tokens: 30, service_tier: "priority" },
    },
  ],
  "what a policy stopped": [
    [chunk({ content: "I" }, { finish: "content_filter" })],
    [{ type: "text", text: "I" }],
    "refusal",
    { stop_details: { type: "refusal", category: null, explanation: null } },
  ],
  "a refusal": [
    [chunk({ refusal: "N" }), chunk({ refusal: "o" }, { finish: "stop" })],
    [{ type: "text", text: "No" }],
    "refusal",
    { stop_details: { type: "refusal", category: null, explanation: "No" } },
  ],
  "a call that was cut": [
    [call(0, "a", "one", "{}"), chunk({}, { finish: "length" })],
    [{ type: "tool_use", id: "a", name: "one", input: {} }],
    "max_tokens",
  ],
  "thoughts in tags, cut anywhere": [
    textChunks([" <th", "ink>H", "m</thi", "nk>", "Yes"]),
    [
      { type: "thinking", thinking: "Hm", signature: "" },
      { type: "text", text: "Yes" },
    ],
    "end_turn",
  ],
  "a tag that is never closed": [
    textChunks(["<think>H", "m"]),
    [{ type: "thinking", thinking: "Hm", signature: "" }],
    "end_turn",
  ],
  "the beginning of a tag and nothing more": [
    textChunks(["<thi"]),
    [{ type: "text", text: "<thi" }],
    "end_turn",
  ],
  "tags behind a text": [
    textChunks(["Yes ", "<think>Hm</think>"]),
    [{ type: "text", text: "Yes <think>Hm</think>" }],
    "end_turn",
  ],
  "thoughts in tags behind a call": [
    [chunk({ content: "Wait" }), call(0, "a", "one", "{}"), chunk({ content: "<think>Hm</think>Yes" })],
    [
      { type: "text", text: "Wait" },
      { type: "tool_use", id: "a", name: "one", input: {} },
      { type: "thinking", thinking: "Hm", signature: "" },
      { type: "text", text: "Yes" },
    ],
    "tool_use",
  ],
  "a finish nobody knows": [
    [chunk({ content: "I" }, { finish: "because" })],
    [{ type: "text", text: "I" }],
    "end_turn",
  ],
  "no finish": [[chunk({ content: "I" })], [{ type: "text", text: "I" }], "end_turn"],
  nothing: [[], [], "end_turn"],
  "another choice": [
    [chunk({ content: "I" }), chunk({ content: "You" }, { index: 1 }), chunk({}, { finish: "stop" })],
    [{ type: "text", text: "I" }],
    "end_turn",
  ],
  "another choice ahead of the first": [
    [
      {
        ...chunk({}),
        choices: [
          { index: 1, delta: { content: "You" }, finish_reason: "length" },
          { index: 0, delta: { content: "I" }, finish_reason: "stop" },
        ],
      },
    ],
    [{ type: "text", text: "I" }],
    "end_turn",
  ],
};
