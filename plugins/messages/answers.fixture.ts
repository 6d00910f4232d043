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

/** What upstreams answer, the blocks it becomes, why it ended. */
export const answers: Record<string, [completion: object, content: object[], stop: string]> = {
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
  ],
  "a refusal": [completion({ content: null, refusal: "No" }), [{ type: "text", text: "No" }], "end_turn"],
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
