import { describe, expect, it } from "vitest";
import {
  fromAssistant,
  fromSystem,
  fromTool,
  fromUser,
  textPart,
  toolCall,
} from "#test/support/wire-parts.ts";
import { TranslatedRequest } from "./schema.ts";
import { toCommon } from "./to-common.ts";

const convert = (body: object) => toCommon(TranslatedRequest.parse({ model: "m", input: "Hi", ...body }));

describe("conversations", () => {
  it.each<[string, unknown[], unknown[]]>([
    ["a message without a type", [fromUser("a")], [fromUser("a")]],
    ["a developer's message", [{ role: "developer", content: "a" }], [fromSystem("a")]],
    [
      "one text in parts",
      [{ type: "message", role: "user", content: [{ type: "input_text", text: "a" }] }],
      [fromUser("a")],
    ],
    [
      "texts, pictures and files in their order",
      [
        fromUser([
          { type: "input_text", text: "a" },
          { type: "input_image", image_url: "data:image/png;base64,AA", detail: "low" },
          { type: "input_file", filename: "f.pdf", file_data: "data:application/pdf;base64,AA" },
        ]),
      ],
      [
        fromUser([
          textPart("a"),
          { type: "image_url", image_url: { url: "data:image/png;base64,AA", detail: "low" } },
          { type: "file", file: { filename: "f.pdf", file_data: "data:application/pdf;base64,AA" } },
        ]),
      ],
    ],
    [
      "calls of one turn, their results, and no thoughts",
      [
        { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "x" },
        { type: "message", role: "assistant", content: [{ type: "output_text", text: "Let me look" }] },
        { type: "function_call", call_id: "a", name: "f", arguments: '{"x":1}' },
        { type: "function_call", call_id: "b", name: "g", arguments: "{}" },
        { type: "function_call_output", call_id: "a", output: "one" },
        {
          type: "function_call_output",
          call_id: "b",
          output: [
            { type: "input_text", text: "two" },
            { type: "input_image", image_url: "https://x/y.png" },
          ],
        },
      ],
      [
        fromAssistant("Let me look", {
          tool_calls: [toolCall("a", "f", '{"x":1}'), toolCall("b", "g", "{}")],
        }),
        fromTool("a", "one"),
        fromTool("b", "two"),
        { role: "user", content: [{ type: "image_url", image_url: { url: "https://x/y.png" } }] },
      ],
    ],
    [
      "a call of a tool that takes a text, and its result",
      [
        { type: "custom_tool_call", call_id: "a", name: "patch", input: "*** Begin" },
        { type: "custom_tool_call_output", call_id: "a", output: "Done" },
      ],
      [
        fromAssistant(null, { tool_calls: [toolCall("a", "patch", '{"input":"*** Begin"}')] }),
        fromTool("a", "Done"),
      ],
    ],
    [
      "a call that nothing was said before",
      [{ type: "function_call", call_id: "a", name: "f", arguments: "{}" }],
      [fromAssistant(null, { tool_calls: [toolCall("a", "f", "{}")] })],
    ],
  ])("hold %s", (_what, input, messages) => expect(convert({ input }).messages).toEqual(messages));

  it("begin with the instructions", () => {
    expect(convert({ instructions: "S" }).messages).toEqual([fromSystem("S"), fromUser("Hi")]);
  });
});

const schema = { type: "object", properties: {} };
const f = { type: "function", name: "f", description: "d", parameters: schema, strict: true };
const g = { type: "function", name: "g", parameters: null };
const tool = (name: string, rest: object = {}) => ({ type: "function", function: { name, ...rest } });

it.each<[object, object]>([
  [{ max_output_tokens: 9 }, { max_tokens: 9 }],
  [{ reasoning: { effort: "low" } }, { reasoning_effort: "low" }],
  [
    { temperature: 0.5, top_p: 0.1, parallel_tool_calls: false, user: "u", seed: 3 },
    { temperature: 0.5, top_p: 0.1, parallel_tool_calls: false, user: "u", seed: 3 },
  ],
  [{ top_logprobs: 3 }, { logprobs: true, top_logprobs: 3 }],
  [{ text: { format: { type: "text" }, verbosity: "low" } }, { verbosity: "low" }],
  [{ text: { format: { type: "json_object" } } }, { response_format: { type: "json_object" } }],
  [
    { text: { format: { type: "json_schema", name: "n", schema, strict: true } } },
    { response_format: { type: "json_schema", json_schema: { name: "n", schema, strict: true } } },
  ],
  [
    { tools: [f, g] },
    { tools: [tool("f", { description: "d", parameters: schema, strict: true }), tool("g")] },
  ],
  [
    { tools: [f, { type: "web_search" }], tool_choice: "required" },
    { tools: [tool("f", { description: "d", parameters: schema, strict: true })], tool_choice: "required" },
  ],
  [
    { tools: [g], tool_choice: { type: "function", name: "g" } },
    { tools: [tool("g")], tool_choice: { type: "function", function: { name: "g" } } },
  ],
  [
    {
      tools: [f, g],
      tool_choice: { type: "allowed_tools", mode: "required", tools: [{ type: "function", name: "g" }] },
    },
    { tools: [tool("g")], tool_choice: "required" },
  ],
  [{ tools: [{ type: "web_search" }], tool_choice: { type: "web_search" } }, { tools: [] }],
  [
    {
      tools: [
        {
          type: "custom",
          name: "patch",
          description: "d",
          format: { type: "grammar", syntax: "lark", definition: "start: /x/" },
        },
      ],
      tool_choice: { type: "custom", name: "patch" },
    },
    {
      tools: [
        tool("patch", {
          description: "d\n\nThe input has to follow this lark grammar:\nstart: /x/",
          parameters: {
            type: "object",
            properties: { input: { type: "string", description: "The whole input, as plain text" } },
            required: ["input"],
          },
        }),
      ],
      tool_choice: { type: "function", function: { name: "patch" } },
    },
  ],
  [
    {
      store: true,
      include: ["x"],
      truncation: "auto",
      metadata: { a: "b" },
      stream_options: { include_obfuscation: true },
      chat_id: "c",
      session_id: "s",
      id: "i",
    },
    {},
  ],
])("%j asks for %j", (body, expected) => {
  const { model, messages, stream, ...rest } = convert(body);
  expect([model, messages.length, stream]).toEqual(["m", 1, false]);
  expect(rest).toEqual(expected);
});
