import { chunk, reasoningChunks, textChunks, toolCallChunks } from "#test/support/upstream-chunks.ts";
import type { Frame } from "#test/support/upstream-scripts.ts";
import {
  fromAssistant,
  fromSystem,
  fromTool,
  fromUser,
  textPart,
  thinking,
  toolCall,
  toolUse,
} from "#test/support/wire-parts.ts";
import { commonTool, mark, png, result, schema, tool, turns, user } from "./requests.fixture.ts";

// Protocol cases of the vendor's message format, each under the id that it has in the list of cases.

const tools = [tool];
const chose = (choice: object, expected: unknown, more: object = {}) =>
  [
    { tools, tool_choice: choice },
    { tools: [commonTool], tool_choice: expected, ...more },
  ] as const;
const single = { disable_parallel_tool_use: true };
const one = { parallel_tool_calls: false };
const withBudget = (budget: number) => ({
  max_tokens: 32_000,
  thinking: { type: "enabled", budget_tokens: budget },
});
const asked = (...messages: object[]) => ({ messages });
const image = (url: string) => ({ type: "image_url", image_url: { url } });
const named = { type: "function", function: { name: "f" } };
const format = (value: object) => ({ output_config: { format: value } });

/** Requests, and their translations besides model and limit. */
export const requestCases: [id: string, sent: object, expected: object][] = [
  ["V1", { system: "S" }, asked(fromSystem("S"), fromUser("Hi"))],
  ["V2", { system: [textPart("A"), textPart("B")] }, asked(fromSystem("A\n\nB"), fromUser("Hi"))],
  ["V5 as a text", turns(fromUser("Hi")), asked(fromUser("Hi"))],
  ["V5 as a block", user(textPart("Hi")), asked(fromUser("Hi"))],
  [
    "V6",
    user(textPart("a"), png, textPart("b")),
    asked(fromUser([textPart("a"), image("data:image/png;base64,DATA"), textPart("b")])),
  ],
  [
    "V7",
    user({ type: "image", source: { type: "url", url: "https://x.test/a.png" } }),
    asked(fromUser([image("https://x.test/a.png")])),
  ],
  [
    "V13",
    turns(fromAssistant([textPart("Wait"), toolUse("a", "f", { x: 1 })])),
    asked(fromAssistant("Wait", { tool_calls: [toolCall("a", "f", '{"x":1}')] })),
  ],
  [
    "V14",
    turns(fromAssistant([toolUse("a", "f", {})])),
    asked(fromAssistant(null, { tool_calls: [toolCall("a", "f", "{}")] })),
  ],
  [
    "V15",
    turns(fromAssistant([toolUse("a", "f", {}), toolUse("b", "g", {})])),
    asked(fromAssistant(null, { tool_calls: [toolCall("a", "f", "{}"), toolCall("b", "g", "{}")] })),
  ],
  ["V16", user(result("a", "1"), textPart("Next")), asked(fromTool("a", "1"), fromUser("Next"))],
  ...Object.entries({
    "a text": ["1", "1"],
    "a block": [[textPart("1")], "1"],
    nothing: [undefined, ""],
    null: [null, ""],
    "an empty list": [[], ""],
  }).map(([name, [content, expected]]): [string, object, object] => [
    `V18 ${name}`,
    user(result("a", content)),
    asked(fromTool("a", expected)),
  ]),
  ["V19", user(result("a", [textPart("1"), textPart("2")])), asked(fromTool("a", "1\n2"))],
  ["V21", user(result("a", "1"), result("b", "2")), asked(fromTool("a", "1"), fromTool("b", "2"))],
  ["V24", turns(fromAssistant([thinking("T", "s"), textPart("Yes")])), asked(fromAssistant("Yes"))],
  [
    "V27",
    turns(fromAssistant([{ type: "redacted_thinking", data: "x" }, textPart("Yes")])),
    asked(fromAssistant("Yes")),
  ],
  [
    "V29",
    {
      system: [{ ...textPart("S"), ...mark }],
      tools: [{ ...tool, ...mark }],
      ...turns(
        fromUser([{ ...textPart("Hi"), ...mark }]),
        fromAssistant([{ ...toolUse("a", "f", {}), ...mark }]),
      ),
    },
    {
      tools: [commonTool],
      ...asked(
        fromSystem("S"),
        fromUser("Hi"),
        fromAssistant(null, { tool_calls: [toolCall("a", "f", "{}")] }),
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
  ["V46 of 1024", withBudget(1024), { max_tokens: 32_000, reasoning_effort: "low" }],
  ["V46 of 4096", withBudget(4096), { max_tokens: 32_000, reasoning_effort: "medium" }],
  ["V46 of 16384", withBudget(16_384), { max_tokens: 32_000, reasoning_effort: "high" }],
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
const rain = toolUse("call_1", "weather", { city: "Łódź" });
const at = (index: number, id: string, name: string, args: string) =>
  chunk({ tool_calls: [{ index, id, type: "function", function: { name, arguments: args } }] });

/** Frames of the upstream, and the message that clients assemble from the events. */
export const streamCases: [id: string, frames: Frame[], expected: object][] = [
  [
    "V78",
    textChunks(["Hel", "lo"], { usage }),
    { content: [textPart("Hello")], stop_reason: "end_turn", usage: { input_tokens: 10, output_tokens: 5 } },
  ],
  [
    "V80",
    reasoningChunks(["Hm"], ["Yes"]),
    { content: [thinking("Hm"), textPart("Yes")], stop_reason: "end_turn" },
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
    { content: [rain, toolUse("call_2", "clock", {})], stop_reason: "tool_use" },
  ],
  [
    "V93 content and finish",
    [chunk(fromAssistant("")), chunk({ content: "All" }, { finish: "length" })],
    { content: [textPart("All")], stop_reason: "max_tokens" },
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
      content: [thinking("Hm"), textPart("Look"), toolUse("call_2", "clock", {})],
      stop_reason: "tool_use",
      usage: { input_tokens: 10, output_tokens: 5 },
    },
  ],
  [
    "V94 behind the finish",
    textChunks("Hi", { usage }),
    { content: [textPart("Hi")], usage: { input_tokens: 10, output_tokens: 5 } },
  ],
  [
    "V94 on the finish",
    [chunk({ content: "Hi" }), { ...chunk({}, { finish: "stop" }), usage }],
    { content: [textPart("Hi")], usage: { input_tokens: 10, output_tokens: 5 } },
  ],
  ["V94 never", textChunks("Hi"), { content: [textPart("Hi")], usage: { output_tokens: 0 } }],
];
