import { expect } from "vitest";
import { fromAssistant, textPart, thinking, toolCall, toolUse } from "#test/support/wire-parts.ts";

/** A whole reply in the common format. */
export const completion = (message: object, more: object = {}) => ({
  id: "chatcmpl-1",
  object: "chat.completion",
  model: "mock",
  choices: [{ index: 0, message: { role: "assistant", ...message }, finish_reason: "stop", ...more }],
  usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
});
const call = (id: string, text: unknown) => toolCall(id, "f", text);
const saying = (content: string, finish_reason = "stop") => completion({ content }, { finish_reason });
const calling = (tool_calls: object[], finish_reason = "stop") =>
  completion({ content: null, tool_calls }, { finish_reason });

const refused = (explanation: string | null) => ({
  stop_details: { type: "refusal", category: null, explanation },
});

/** Upstream answers with their blocks, stop reason and further keys. */
export const answers: Record<string, [completion: object, content: object[], stop: string, more?: object]> = {
  "a text": [saying("Hi"), [textPart("Hi")], "end_turn"],
  "a cut text": [saying("Hi", "length"), [textPart("Hi")], "max_tokens"],
  "a text that a policy stopped": [
    saying("Hi", "content_filter"),
    [textPart("Hi")],
    "refusal",
    refused(null),
  ],
  "a refusal": [completion({ content: null, refusal: "No" }), [textPart("No")], "refusal", refused("No")],
  "a call that a policy stopped": [
    calling([call("a", "{}")], "content_filter"),
    [toolUse("a", "f", {})],
    "refusal",
    refused(null),
  ],
  "a call that was cut": [
    calling([call("a", '{"x":1}')], "length"),
    [toolUse("a", "f", { x: 1 })],
    "max_tokens",
  ],
  "another choice ahead of the first": [
    {
      ...completion({}),
      choices: [
        { index: 1, message: fromAssistant("You"), finish_reason: "length" },
        { index: 0, message: fromAssistant("I"), finish_reason: "stop" },
      ],
    },
    [textPart("I")],
    "end_turn",
  ],
  "thoughts in tags": [saying("\n<think>Hm</think>Yes"), [thinking("Hm"), textPart("Yes")], "end_turn"],
  "tags behind a text": [saying("Yes <think>Hm</think>"), [textPart("Yes <think>Hm</think>")], "end_turn"],
  "a call without a name": [calling([{ id: "a" }]), [], "end_turn"],
  "an id that clients do not take": [
    calling([call("functions.f:0", "{}")]),
    [toolUse(expect.stringMatching(/^[\w-]{1,64}$/), "f", {})],
    "tool_use",
  ],
  nothing: [saying(""), [], "end_turn"],
  "no choice": [{ choices: [] }, [], "end_turn"],
  "text and calls": [
    completion(
      { content: "Wait", tool_calls: [call("a", '{"x":1}'), call("b", "")] },
      { finish_reason: "tool_calls" },
    ),
    [textPart("Wait"), toolUse("a", "f", { x: 1 }), toolUse("b", "f", {})],
    "tool_use",
  ],
  "calls that end with stop": [calling([call("a", { x: 1 })]), [toolUse("a", "f", { x: 1 })], "tool_use"],
  "a call whose arguments are no JSON": [
    calling([call("a", '{"x":')]),
    [toolUse("a", "f", { arguments: '{"x":' })],
    "tool_use",
  ],
  "a call without an id": [
    calling([{ function: { name: "f", arguments: "{}" } }]),
    [toolUse(expect.stringMatching(/^toolu_\w+$/), "f", {})],
    "tool_use",
  ],
  "thoughts and a text": [
    completion({ content: "Yes", reasoning_content: "Hm" }),
    [thinking("Hm"), textPart("Yes")],
    "end_turn",
  ],
  "thoughts under their other name, signed": [
    completion({
      content: "Yes",
      reasoning: "Hm",
      reasoning_details: [{ type: "reasoning.text", signature: "sig" }],
    }),
    [thinking("Hm", "sig"), textPart("Yes")],
    "end_turn",
  ],
};
