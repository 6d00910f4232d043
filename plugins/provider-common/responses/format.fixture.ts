import { chunk, reasoningChunks, textChunks, toolCallChunks } from "#test/support/upstream-chunks.ts";
import type { Frame } from "#test/support/upstream-scripts.ts";

const usage = {
  prompt_tokens: 100,
  completion_tokens: 20,
  total_tokens: 120,
  prompt_tokens_details: { cached_tokens: 30 },
  completion_tokens_details: { reasoning_tokens: 8 },
};
const args = '{"city":"Łódź","days":3}';
const weather = { id: "call_1", name: "weather", arguments: args };
const clock = { id: "call_2", name: "clock", arguments: "{}" };
const toCall = ({ id, ...call }: typeof weather, status = "completed") => ({
  type: "function_call",
  call_id: id,
  ...call,
  status,
});
const toText = (text: string, status = "completed") => ({
  type: "message",
  role: "assistant",
  status,
  content: [{ type: "output_text", text }],
});
const toThought = (text: string) => ({
  type: "reasoning",
  status: "completed",
  content: [{ type: "reasoning_text", text }],
});

interface Expected {
  readonly output: readonly object[];
  /** Names of the events behind `response.in_progress`, repeated ones once, without `response.`. */
  readonly events: readonly string[];
  readonly more?: object;
}

const item = (part: string) => [
  "output_item.added",
  "content_part.added",
  `${part}.delta`,
  `${part}.done`,
  "content_part.done",
  "output_item.done",
];
const called = [
  "output_item.added",
  "function_call_arguments.delta",
  "function_call_arguments.done",
  "output_item.done",
];

const told = [...item("output_text"), "completed"];
const thought = [...item("reasoning_text"), ...told];
const cut = (reason: string): Expected => ({
  output: [toText("Hel", "incomplete")],
  events: [...item("output_text"), "incomplete"],
  more: { status: "incomplete", incomplete_details: { reason } },
});

/** What chat upstreams stream, and the response that it becomes. Protocol cases O61 to O63. */
export const streams: Record<string, readonly [frames: readonly Frame[], expected: Expected]> = {
  "a text with usage": [
    textChunks(["Grü", "ße an ", "世界 🌍"], { usage }),
    {
      output: [toText("Grüße an 世界 🌍")],
      events: told,
      more: {
        usage: {
          input_tokens: 100,
          input_tokens_details: { cached_tokens: 30 },
          output_tokens: 20,
          output_tokens_details: { reasoning_tokens: 8 },
          total_tokens: 120,
        },
      },
    },
  ],
  "a text without usage": [
    textChunks("Hello"),
    { output: [toText("Hello")], events: told, more: { usage: null } },
  ],
  "thoughts ahead of a text": [
    reasoningChunks(["Let me ", "see"], ["42"]),
    { output: [toThought("Let me see"), toText("42")], events: thought },
  ],
  "thoughts under their other name": [
    reasoningChunks(["Hm"], ["42"], { field: "reasoning" }),
    { output: [toThought("Hm"), toText("42")], events: thought },
  ],
  "a call in pieces": [
    toolCallChunks([weather], { pieces: 5 }),
    { output: [toCall(weather)], events: [...called, "completed"] },
  ],
  "two calls, their pieces interleaved": [
    toolCallChunks([weather, clock], { pieces: 2 }),
    { output: [toCall(weather), toCall(clock)], events: [...called, ...called.slice(2), "completed"] },
  ],
  "a text, then a call at once": [
    [
      chunk({ content: "Let me look. " }),
      chunk({ tool_calls: [{ index: 0, id: "call_1", function: { name: "weather", arguments: args } }] }),
      chunk({}, { finish: "tool_calls" }),
    ],
    {
      output: [toText("Let me look. "), toCall(weather)],
      events: [...item("output_text"), ...called, "completed"],
    },
  ],
  "a refusal": [
    [chunk({ refusal: "I will " }), chunk({ refusal: "not" }, { finish: "stop" })],
    {
      output: [{ type: "message", content: [{ type: "refusal", refusal: "I will not" }] }],
      events: [...item("refusal"), "completed"],
    },
  ],
  "a text that was cut": [textChunks("Hel", { finish: "length" }), cut("max_output_tokens")],
  "a text that a policy stopped": [textChunks("Hel", { finish: "content_filter" }), cut("content_filter")],
  nothing: [[chunk({}, { finish: "stop" })], { output: [], events: ["completed"] }],
};
