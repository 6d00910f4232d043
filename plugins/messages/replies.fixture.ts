import { chunk, reasoningChunks, textChunks, toolCallChunks } from "#test/support/upstream-chunks.ts";
import type { Frame } from "#test/support/upstream-scripts.ts";
import { textPart, thinking, toolUse } from "#test/support/wire-parts.ts";

const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
const cached = {
  ...usage,
  prompt_tokens: 100,
  prompt_tokens_details: { cached_tokens: 30 },
  service_tier: "priority",
};
const weather = { id: "call_1", name: "weather", arguments: '{"city":"Łódź","days":3}' };
const clock = { id: "call_2", name: "clock", arguments: "{}" };

const call = (index: number, id: string | undefined, name: string | undefined, text: string) =>
  chunk({ tool_calls: [{ index, ...(id && { id }), function: { ...(name && { name }), arguments: text } }] });
const said = (content: string, finish?: string) => chunk({ content }, { ...(finish && { finish }) });
const finish = (reason: string) => chunk({}, { finish: reason });
const none = undefined;
const rain = toolUse("call_1", "weather", { city: "Łódź", days: 3 });
const one = toolUse("a", "one", { x: 1 });
const empty = toolUse("a", "one", {});
const stopped = (explanation: string | null) => ({
  stop_details: { type: "refusal", category: null, explanation },
});
const counted = { usage: { input_tokens: 10, output_tokens: 5 } };

/** Frames of the upstream with their blocks, stop reason and further keys. */
export const replies: Record<string, [frames: Frame[], content: object[], stop: string, more?: object]> = {
  "a text": [
    textChunks(["Hel", "lo"], { usage }),
    [textPart("Hello")],
    "end_turn",
    { model: "alpha", ...counted },
  ],
  "thoughts ahead of the text": [
    reasoningChunks(["Hm", "mm"], ["Yes"]),
    [thinking("Hmmm"), textPart("Yes")],
    "end_turn",
  ],
  "thoughts under their other name": [
    reasoningChunks(["Hmm"], ["Yes"], { field: "reasoning" }),
    [thinking("Hmm"), textPart("Yes")],
    "end_turn",
  ],
  "thoughts and text in one chunk": [
    [chunk({ reasoning_content: "a", content: "b" }, { finish: "stop" })],
    [thinking("a"), textPart("b")],
    "end_turn",
  ],
  "a signed thought": [
    [
      chunk({ reasoning_content: "a" }),
      chunk({ reasoning_details: [{ type: "reasoning.text", signature: "sig" }] }),
      said("b", "stop"),
    ],
    [thinking("a", "sig"), textPart("b")],
    "end_turn",
  ],
  "a call in pieces": [toolCallChunks([weather], { pieces: 5 }), [rain], "tool_use"],
  "a call at once": [
    [call(0, "call_1", "weather", weather.arguments), finish("tool_calls")],
    [rain],
    "tool_use",
  ],
  "a call without arguments": [
    [call(0, "call_1", "clock", ""), finish("tool_calls")],
    [toolUse("call_1", "clock", {})],
    "tool_use",
  ],
  "two calls, their pieces interleaved": [
    toolCallChunks([weather, clock], { pieces: 3 }),
    [rain, toolUse("call_2", "clock", {})],
    "tool_use",
  ],
  "two calls, one after the other": [
    [call(0, "a", "one", '{"x"'), call(0, none, none, ":1}"), call(1, "b", "two", '{"y":2}')],
    [one, toolUse("b", "two", { y: 2 })],
    "tool_use",
  ],
  "two calls under one index": [
    [call(0, "a", "one", '{"x":1}'), call(0, "b", "two", '{"y":2}')],
    [one, toolUse("b", "two", { y: 2 })],
    "tool_use",
  ],
  "a call that goes on under a wrong index": [
    [call(0, "a", "one", '{"x"'), call(7, none, none, ":1}")],
    [one],
    "tool_use",
  ],
  "a call whose id and name come again with every piece": [
    [call(0, "a", "one", '{"x"'), call(0, "a", "one", ":1}")],
    [one],
    "tool_use",
  ],
  "text before and behind a call": [
    [said("Let me see. "), call(0, "a", "one", '{"x":'), said("Done."), call(0, none, none, "1}")],
    [textPart("Let me see. "), one, textPart("Done.")],
    "tool_use",
  ],
  "a call that ends with stop": [[call(0, "a", "one", "{}"), finish("stop")], [empty], "tool_use"],
  "text and the finish in one chunk": [[said("All of it", "length")], [textPart("All of it")], "max_tokens"],
  "usage on the finish chunk": [[{ ...said("Hi", "stop"), usage }], [textPart("Hi")], "end_turn", counted],
  "cached tokens": [
    textChunks("Hi", { usage: cached }),
    [textPart("Hi")],
    "end_turn",
    { usage: { input_tokens: 70, output_tokens: 5, cache_read_input_tokens: 30, service_tier: "priority" } },
  ],
  "what a policy stopped": [[said("I", "content_filter")], [textPart("I")], "refusal", stopped(null)],
  "a refusal": [
    [chunk({ refusal: "N" }), chunk({ refusal: "o" }, { finish: "stop" })],
    [textPart("No")],
    "refusal",
    stopped("No"),
  ],
  "a call that was cut": [[call(0, "a", "one", "{}"), finish("length")], [empty], "max_tokens"],
  "thoughts in tags, cut anywhere": [
    textChunks([" <th", "ink>H", "m</thi", "nk>", "Yes"]),
    [thinking("Hm"), textPart("Yes")],
    "end_turn",
  ],
  "a tag that is never closed": [textChunks(["<think>H", "m"]), [thinking("Hm")], "end_turn"],
  "the beginning of a tag and nothing more": [textChunks(["<thi"]), [textPart("<thi")], "end_turn"],
  "tags behind a text": [
    textChunks(["Yes ", "<think>Hm</think>"]),
    [textPart("Yes <think>Hm</think>")],
    "end_turn",
  ],
  "thoughts in tags behind a call": [
    [said("Wait"), call(0, "a", "one", "{}"), said("<think>Hm</think>Yes")],
    [textPart("Wait"), empty, thinking("Hm"), textPart("Yes")],
    "tool_use",
  ],
  "a finish nobody knows": [[said("I", "because")], [textPart("I")], "end_turn"],
  "no finish": [[said("I")], [textPart("I")], "end_turn"],
  nothing: [[], [], "end_turn"],
  "another choice": [
    [said("I"), chunk({ content: "You" }, { index: 1 }), finish("stop")],
    [textPart("I")],
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
    [textPart("I")],
    "end_turn",
  ],
};
