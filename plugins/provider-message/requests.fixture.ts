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
/** Requests of the common format with their translations, for tables of cases. */
const mark = { cache_control: { type: "ephemeral" } };
export const user = fromUser("Hi");
const userTurn = fromUser([textPart("Hi")]);
export const call = (id: string, args: string) => toolCall(id, "f", args);
const use = (id: string, input: object) => toolUse(id, "f", input);
export const signed = [
  { type: "reasoning.text", format: "anthropic-claude-v1", text: "T", signature: "sig", index: 0 },
  { type: "reasoning.encrypted", format: "anthropic-claude-v1", data: "secret", index: 1 },
];
const thoughts = [thinking("T", "sig"), { type: "redacted_thinking", data: "secret" }];

export const conversations: Record<string, [messages: object[], expected: object]> = {
  "instructions, wherever they stand": [
    [fromSystem("A"), user, { role: "developer", content: [{ ...textPart("B"), ...mark }] }],
    { system: [textPart("A"), { ...textPart("B"), ...mark }], messages: [userTurn] },
  ],
  "images and texts in their order": [
    [
      {
        role: "user",
        content: [
          textPart("a"),
          { type: "image_url", image_url: { url: "data:image/png;base64,DATA" }, ...mark },
          { type: "image_url", image_url: { url: "https://x.test/a.png" } },
        ],
      },
    ],
    {
      messages: [
        {
          role: "user",
          content: [
            textPart("a"),
            { type: "image", source: { type: "base64", media_type: "image/png", data: "DATA" }, ...mark },
            { type: "image", source: { type: "url", url: "https://x.test/a.png" } },
          ],
        },
      ],
    },
  ],
  files: [
    [
      fromUser([
        { type: "file", file: { filename: "a.pdf", file_data: "data:application/pdf;base64,UEQ=" } },
        { type: "file", file: { file_data: "data:text/plain;charset=utf-8;base64,SGk=" } },
      ]),
    ],
    {
      messages: [
        fromUser([
          {
            type: "document",
            title: "a.pdf",
            source: { type: "base64", media_type: "application/pdf", data: "UEQ=" },
          },
          { type: "document", source: { type: "text", media_type: "text/plain", data: "Hi" } },
        ]),
      ],
    },
  ],
  "calls and their results as one turn each": [
    [
      user,
      fromAssistant("Wait", { tool_calls: [call("a", '{"x":1}'), call("b", "")] }),
      { role: "tool", tool_call_id: "a", content: "1", ...mark },
      fromTool("b", ""),
      fromUser("Next"),
    ],
    {
      messages: [
        userTurn,
        fromAssistant([textPart("Wait"), use("a", { x: 1 }), use("b", {})]),
        fromUser([
          { type: "tool_result", tool_use_id: "a", content: [textPart("1")], ...mark },
          { type: "tool_result", tool_use_id: "b" },
          textPart("Next"),
        ]),
      ],
    },
  ],
  "signed thoughts ahead of what followed them": [
    [user, fromAssistant("Yes", { reasoning_content: "T", reasoning_details: signed })],
    { messages: [userTurn, fromAssistant([...thoughts, textPart("Yes")])] },
  ],
  "no thoughts of others": [
    [
      user,
      fromAssistant("Yes", {
        reasoning_content: "T",
        reasoning_details: [
          { type: "reasoning.text", text: "T" },
          { type: "reasoning.encrypted", format: "other", data: "x" },
          null,
        ],
      }),
    ],
    { messages: [userTurn, fromAssistant([textPart("Yes")])] },
  ],
  "no empty texts": [
    [user, fromAssistant(""), fromUser([textPart(""), textPart("b")])],
    { messages: [fromUser([textPart("Hi"), textPart("b")])] },
  ],
  "calls of another upstream, whose ids the vendor would refuse": [
    [
      user,
      fromAssistant(null, { tool_calls: [call("functions.f:0", "{}")] }),
      fromTool("functions.f:0", "1"),
    ],
    {
      messages: [
        userTurn,
        fromAssistant([use("functions_f_0", {})]),
        fromUser([{ type: "tool_result", tool_use_id: "functions_f_0", content: [textPart("1")] }]),
      ],
    },
  ],
  "a begun reply without blanks at its end": [
    [user, fromAssistant("It is \n")],
    { messages: [userTurn, fromAssistant([textPart("It is")])] },
  ],
  "a mark on a message": [[{ ...user, ...mark }], { messages: [fromUser([{ ...textPart("Hi"), ...mark }])] }],
};

const schema = { type: "object", properties: { a: { type: "string" } } };
export const tool = {
  type: "function",
  function: { name: "f", description: "d", parameters: schema, strict: true },
};
const vendorTool = { name: "f", description: "d", input_schema: schema, strict: true };
const withTool = (choice: unknown, more: object = {}) => ({ tools: [tool], tool_choice: choice, ...more });

export const parameters: Record<string, [request: object, expected: object]> = {
  limits: [
    { max_tokens: 9, temperature: 1.7, top_p: 0.5, stop: ["a", " "], stream: true, user: "u" },
    {
      max_tokens: 9,
      temperature: 1,
      top_p: 0.5,
      stop_sequences: ["a"],
      stream: true,
      metadata: { user_id: "u" },
    },
  ],
  "the newer limit": [{ max_tokens: 9, max_completion_tokens: 8 }, { max_tokens: 8 }],
  "one stop": [{ stop: "a" }, { stop_sequences: ["a"] }],
  tools: [{ tools: [tool] }, { tools: [vendorTool] }],
  "a marked tool without a schema": [
    { tools: [{ type: "function", function: { name: "f" }, ...mark }] },
    { tools: [{ name: "f", input_schema: { type: "object", properties: {} }, ...mark }] },
  ],
  "a tool of the vendor": [
    { tools: [{ type: "web_search_20250305", name: "web_search" }] },
    { tools: [{ type: "web_search_20250305", name: "web_search" }] },
  ],
  "the choice auto": [withTool("auto"), { tools: [vendorTool], tool_choice: { type: "auto" } }],
  "the choice none": [withTool("none"), { tools: [vendorTool], tool_choice: { type: "none" } }],
  "the choice required": [withTool("required"), { tools: [vendorTool], tool_choice: { type: "any" } }],
  "the choice of a tool": [
    withTool({ type: "function", function: { name: "f" } }),
    { tools: [vendorTool], tool_choice: { type: "tool", name: "f" } },
  ],
  "one call at a time": [
    withTool(undefined, { parallel_tool_calls: false }),
    { tools: [vendorTool], tool_choice: { type: "auto", disable_parallel_tool_use: true } },
  ],
  "a schema of the answer": [
    { response_format: { type: "json_schema", json_schema: { name: "x", schema, strict: true } } },
    { output_config: { format: { type: "json_schema", schema } } },
  ],
  "an answer in JSON": [
    { response_format: { type: "json_object" } },
    { system: [textPart("Answer with one JSON object and nothing else.")] },
  ],
  "its own parameters": [
    {
      top_k: 5,
      thinking: { type: "enabled", budget_tokens: 2000 },
      output_config: { effort: "low" },
      temperature: 0.5,
    },
    {
      top_k: 5,
      thinking: { type: "enabled", budget_tokens: 2000 },
      output_config: { effort: "low" },
      max_tokens: 10_192,
    },
  ],
  "nothing that it does not know": [
    {
      n: 2,
      seed: 1,
      logit_bias: {},
      frequency_penalty: 1,
      stream_options: {},
      foreign: 1,
      service_tier: "flex",
    },
    {},
  ],
};
