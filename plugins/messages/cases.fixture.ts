import { chunk, reasoningChunks, textChunks, toolCallChunks } from "#test/support/upstream-chunks.ts";
import type { Frame } from "#test/support/upstream-scripts.ts";
import { commonTool, mark, png, result, schema, text, tool, turns, user } from "./requests.fixture.ts";

// Protocol cases of the vendor's message format, each under the id that it has in the list of cases.

const use = (id: string, name: string, input: object) => ({ type: "tool_use", id, name, input });
const call = (id: string, name: string, args: string) => ({
  id,
  type: "function",
  function: { name, arguments: args },
});
const tools = [tool];
const chose = (choice: object, expected: unknown, more: object = {}) =>
  [
    { tools, tool_choice: choice },
    { tools: [commonTool], tool_choice: expected, ...more },
  ] as const;
const single = { disable_parallel_tool_use: true };
const one = { parallel_tool_calls: false };
const thinking = (budget: number) => ({
  max_tokens: 32_000,
  thinking: { type: "enabled", budget_tokens: budget },
});
const asked = (...messages: object[]) => ({ messages });
const image = (url: string) => ({ type: "image_url", image_url: { url } });
const named = { type: "function", function: { name: "f" } };
const format = (value: object) => ({ output_config: { format: value } });

/** Requests, and their translations besides model and limit. */
export const requestCases: [id: string, sent: object, expected: object][] = [
  ["V1", { system: "S" }, asked({ role: "system", content: "S" }, { role: "user", content: "Hi" })],
  [
    "V2",
    { system: [text("A"), text("B")] },
    asked({ role: "system", content: "A\n\nB" }, { role: "user", content: "Hi" }),
  ],
  ["V5 as a text", turns({ role: "user", content: "Hi" }), asked({ role: "user", content: "Hi" })],
  ["V5 as a block", user(text("Hi")), asked({ role: "user", content: "Hi" })],
  [
    "V6",
    user(text("a"), png, text("b")),
    asked({ role: "user", content: [text("a"), image("data:image/png;base64,DATA"), text("b")] }),
  ],
  [
    "V7",
    user({ type: "image", source: { type: "url", url: "https://x.test/a.png" } }),
    asked({ role: "user", content: [image("https://x.test/a.png")] }),
  ],
  [
    "V13",
    turns({ role: "assistant", content: [text("Wait"), use("a", "f", { x: 1 })] }),
    asked({ role: "assistant", content: "Wait", tool_calls: [call("a", "f", '{"x":1}')] }),
  ],
  [
    "V14",
    turns({ role: "assistant", content: [use("a", "f", {})] }),
    asked({ role: "assistant", content: null, tool_calls: [call("a", "f", "{}")] }),
  ],
  [
    "V15",
    turns({ role: "assistant", content: [use("a", "f", {}), use("b", "g", {})] }),
    asked({ role: "assistant", content: null, tool_calls: [call("a", "f", "{}"), call("b", "g", "{}")] }),
  ],
  [
    "V16",
    user(result("a", "1"), text("Next")),
    asked({ role: "tool", tool_call_id: "a", content: "1" }, { role: "user", content: "Next" }),
  ],
  ...Object.entries({
    "a text": ["1", "1"],
    "a block": [[text("1")], "1"],
    nothing: [undefined, ""],
    null: [null, ""],
    "an empty list": [[], ""],
  }).map(([name, [content, expected]]): [string, object, object] => [
    `V18 ${name}`,
    user(result("a", content)),
    asked({ role: "tool", tool_call_id: "a", content: expected }),
  ]),
  [
    "V19",
    user(result("a", [text("1"), text("2")])),
    asked({ role: "tool", tool_call_id: "a", content: "1\n2" }),
  ],
  [
    "V21",
    user(result("a", "1"), result("b", "2")),
    asked(
      { role: "tool", tool_call_id: "a", content: "1" },
      { role: "tool", tool_call_id: "b", content: "2" },
    ),
  ],
  [
    "V24",
    turns({ role: "assistant", content: [{ type: "thinking", thinking: "T", signature: "s" }, text("Yes")] }),
    asked({ role: "assistant", content: "Yes" }),
  ],
  [
    "V27",
    turns({ role: "assistant", content: [{ type: "redacted_thinking", data: "x" }, text("Yes")] }),
    asked({ role: "assistant", content: "Yes" }),
  ],
  [
    "V29",
    {
      system: [{ ...text("S"), ...mark }],
      tools: [{ ...tool, ...mark }],
      ...turns(
        { role: "user", content: [{ ...text("Hi"), ...mark }] },
        { role: "assistant", content: [{ ...use("a", "f", {}), ...mark }] },
      ),
    },
    {
      tools: [commonTool],
      ...asked(
        { role: "system", content: "S" },
        { role: "user", content: "Hi" },
        { role: "assistant", content: null, tool_calls: [call("a", "f", "{}")] },
      ),
    },
  ],
  ["V30", { tools }, { tools: [commonTool] }],
  ["V36 auto", ...chose({ type: "auto" }, "auto")],
  ["V36 any", ...chose({ type: "any" }, "required")],
  ["V36 none", ...chose({ type: "none" }, "none")],
  ["V36 a tool", ...chose({ type: "tool", name: "f" }, named)],
  ["V38 auto", ...chose({ type: "auto", ...single }, "auto", one)],
  ["V38 any", ...chose({ type: "any", ...single }, "required", one)],
  ["V38 a tool", ...chose({ type: "tool", name: "f", ...single }, named, one)],
  [
    "V39",
    { stop_sequences: ["x"], temperature: 0.5, top_p: 0.9 },
    { stop: ["x"], temperature: 0.5, top_p: 0.9 },
  ],
  ["V41", { reasoning_effort: "low" }, { reasoning_effort: "low" }],
  ["V41 of the output", { output_config: { effort: "low" } }, { reasoning_effort: "low" }],
  ["V46 of 1024", thinking(1024), { max_tokens: 32_000, reasoning_effort: "low" }],
  ["V46 of 4096", thinking(4096), { max_tokens: 32_000, reasoning_effort: "medium" }],
  ["V46 of 16384", thinking(16_384), { max_tokens: 32_000, reasoning_effort: "high" }],
  [
    "V48",
    format({ type: "json_schema", schema }),
    { response_format: { type: "json_schema", json_schema: { name: "response", schema, strict: true } } },
  ],
  ["V49", format({ type: "json_object" }), { response_format: { type: "json_object" } }],
  ["V51", { top_k: 5, service_tier: "auto", container: "c", novelty: 1 }, {}],
];

const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
const weather = { id: "call_1", name: "weather", arguments: '{"city":"Łódź"}' };
const clock = { id: "call_2", name: "clock", arguments: "{}" };
const used = (id: string, name: string, input: object) => ({ type: "tool_use", id, name, input });
const rain = used("call_1", "weather", { city: "Łódź" });
const said = (value: string) => ({ type: "text", text: value });
const at = (index: number, id: string, name: string, args: string) =>
  chunk({ tool_calls: [{ index, id, type: "function", function: { name, arguments: args } }] });

/** Frames of the upstream, and the message that clients assemble from the events. */
export const streamCases: [id: string, frames: Frame[], expected: object][] = [
  [
    "V78",
    textChunks(["Hel", "lo"], { usage }),
    { content: [said("Hello")], stop_reason: "end_turn", usage: { input_tokens: 10, output_tokens: 5 } },
  ],
  [
    "V80",
    reasoningChunks(["Hm"], ["Yes"]),
    { content: [{ type: "thinking", thinking: "Hm", signature: "" }, said("Yes")], stop_reason: "end_turn" },
  ],
  ["V85", toolCallChunks([weather], { pieces: 4 }), { content: [rain], stop_reason: "tool_use" }],
  [
    "V86",
    [at(0, "call_1", "weather", weather.arguments), chunk({}, { finish: "tool_calls" })],
    { content: [rain], stop_reason: "tool_use" },
  ],
  [
    "V88",
    [at(0, "call_1", "weather", weather.arguments), at(1, "call_2", "clock", clock.arguments)],
    { content: [rain, used("call_2", "clock", {})], stop_reason: "tool_use" },
  ],
  [
    "V93 content and finish",
    [chunk({ role: "assistant", content: "" }), chunk({ content: "All" }, { finish: "length" })],
    { content: [said("All")], stop_reason: "max_tokens" },
  ],
  [
    "V93 all in one chunk",
    [
      {
        ...chunk(
          {
            role: "assistant",
            reasoning_content: "Hm",
            content: "Look",
            tool_calls: [{ index: 0, id: "call_2", type: "function", function: clock }],
          },
          { finish: "tool_calls" },
        ),
        usage,
      },
    ],
    {
      content: [
        { type: "thinking", thinking: "Hm", signature: "" },
        said("Look"),
        used("call_2", "clock", {}),
      ],
      stop_reason: "tool_use",
      usage: { input_tokens: 10, output_tokens: 5 },
    },
  ],
  [
    "V94 behind the finish",
    textChunks("Hi", { usage }),
    { content: [said("Hi")], usage: { input_tokens: 10, output_tokens: 5 } },
  ],
  [
    "V94 on the finish",
    [chunk({ content: "Hi" }), { ...chunk({}, { finish: "stop" }), usage }],
    { content: [said("Hi")], usage: { input_tokens: 10, output_tokens: 5 } },
  ],
  ["V94 never", textChunks("Hi"), { content: [said("Hi")], usage: { output_tokens: 0 } }],
];
