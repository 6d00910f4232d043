import { expect } from "vitest";

/** A whole reply in the common format. */
export const completion = (message: object, more: object = {}) => ({
  id: "chatcmpl-1",
  object: "chat.completion",
  model: "mock",
  choices: [{ index: 0, message: { role: "assistant", ...message }, finish_reason: "stop", ...more }],
  usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
});
const call = (id: string, text: unknown) => ({
  id,
  type: "function",
  function: { name: "f", arguments: text },
});

const refused = (explanation: string | null) => ({
  stop_details: { type: "refusal", category: null, explanation },
});

/** Upstream answers with their blocks, stop reason and further keys. */
export const answers: Record<string, [completion: object, content: object[], stop: string, more?: object]> = {
  "a text": [completion({ content: "Hi" }), [{ type: "text", text: "Hi" }], "end_turn"],
  "a cut text": [
    completion({ content: "Hi" }, { finish_reason: "length" }),
    [{ type: "text", text: "Hi" }],
    "max_tokens",
  ],
  "a text that a policy stopped": [
    completion({ content: "Hi" }, { finish_reason: "content_filter" }),
    [{ type: "text", text: "Hi" }],
    "refusal",
    refused(null),
  ],
  "a refusal": [
    completion({ content: null, refusal: "No" }),
    [{ type: "text", text: "No" }],
    "refusal",
    refused("No"),
  ],
  "a call that a policy stopped": [
    completion({ content: null, tool_calls: [call("a", "{}")] }, { finish_reason: "content_filter" }),
    [{ type: "tool_use", id: "a", name: "f", input: {} }],
    "refusal",
    refused(null),
  ],
  "a call that was cut": [
    completion({ content: null, tool_calls: [call("a", '{"x":1}')] }, { finish_reason: "length" }),
    [{ type: "tool_use", id: "a", name: "f", input: { x: 1 } }],
    "max_tokens",
  ],
  "another choice ahead of the first": [
    {
      ...completion({}),
      choices: [
        { index: 1, message: { role: "assistant", content: "You" }, finish_reason: "length" },
        { index: 0, message: { role: "assistant", content: "I" }, finish_reason: "stop" },
      ],
    },
    [{ type: "text", text: "I" }],
    "end_turn",
  ],
  "thoughts in tags": [
    completion({ content: "\n<think>Hm</think>Yes" }),
    [
      { type: "thinking", thinking: "Hm", signature: "" },
      { type: "text", text: "Yes" },
    ],
    "end_turn",
  ],
  "tags behind a text": [
    completion({ content: "Yes <think>Hm</think>" }),
    [{ type: "text", text: "Yes <think>Hm</think>" }],
    "end_turn",
  ],
  "a call without a name": [completion({ content: null, tool_calls: [{ id: "a" }] }), [], "end_turn"],
  "an id that clients do not take": [
    completion({ content: null, tool_calls: [call("functions.f:0", "{}")] }),
    [{ type: "tool_use", id: expect.stringMatching(/^[\w-]{1,64}$/), name: "f", input: {} }],
    "tool_use",
  ],
  nothing: [completion({ content: "" }), [], "end_turn"],
  "no choice": [{ choices: [] }, [], "end_turn"],
  "text and calls": [
    completion(
      { content: "Wait", tool_calls: [call("a", '{"x":1}'), call("b", "")] },
      { finish_reason: "tool_calls" },
    ),
    [
      { type: "text", text: "Wait" },
      { type: "tool_use", id: "a", name: "f", input: { x: 1 } },
      { type: "tool_use", id: "b", name: "f", input: {} },
    ],
    "tool_use",
  ],
  "calls that end with stop": [
    completion({ content: null, tool_calls: [call("a", { x: 1 })] }),
    [{ type: "tool_use", id: "a", name: "f", input: { x: 1 } }],
    "tool_use",
  ],
  "a call whose arguments are no JSON": [
    completion({ content: null, tool_calls: [call("a", '{"x":')] }),
    [{ type: "tool_use", id: "a", name: "f", input: { arguments: '{"x":' } }],
    "tool_use",
  ],
  "a call without an id": [
    completion({ content: null, tool_calls: [{ function: { name: "f", arguments: "{}" } }] }),
    [{ type: "tool_use", id: expect.stringMatching(/^toolu_\w+$/), name: "f", input: {} }],
    "tool_use",
  ],
  "thoughts and a text": [
    completion({ content: "Yes", reasoning_content: "Hm" }),
    [
      { type: "thinking", thinking: "Hm", signature: "" },
      { type: "text", text: "Yes" },
    ],
    "end_turn",
  ],
  "thoughts under their other name, signed": [
    completion({
      content: "Yes",
      reasoning: "Hm",
      reasoning_details: [{ type: "reasoning.text", signature: "sig" }],
    }),
    [
      { type: "thinking", thinking: "Hm", signature: "sig" },
      { type: "text", text: "Yes" },
    ],
    "end_turn",
  ],
};
