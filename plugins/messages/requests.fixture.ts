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
/** Parts of requests in the vendor's format and of their translations, for tables of cases. */
export const mark = { cache_control: { type: "ephemeral" } };
export const user = (...content: object[]) => ({ messages: [fromUser(content)] });
export const turns = (...messages: object[]) => ({ messages });
export const png = { type: "image", source: { type: "base64", media_type: "image/png", data: "DATA" } };
const pngPart = { type: "image_url", image_url: { url: "data:image/png;base64,DATA" } };
const use = (id: string, input: object) => toolUse(id, "f", input);
export const result = (id: string, content?: unknown, more = {}) => ({
  type: "tool_result",
  tool_use_id: id,
  ...(content !== undefined && { content }),
  ...more,
});
const call = (id: string, args: string) => toolCall(id, "f", args);

export const conversations: Record<string, [sent: object, messages: object[]]> = {
  "a system text": [{ system: "S" }, [fromSystem("S"), fromUser("Hi")]],
  "an empty system text": [{ system: "" }, [fromUser("Hi")]],
  "empty system blocks": [{ system: [textPart(""), textPart("B")] }, [fromSystem("B"), fromUser("Hi")]],
  "system blocks": [
    { system: [{ ...textPart("A"), ...mark }, textPart("B")] },
    [fromSystem("A\n\nB"), fromUser("Hi")],
  ],
  "instructions midway": [turns(fromUser("a"), fromSystem("S")), [fromUser("a"), fromSystem("S")]],
  "instructions for one turn": [
    turns(
      fromUser("a"),
      fromSystem("S", { clear_at: "next_user_message" }),
      fromUser("b"),
      fromSystem("T", { clear_at: "next_user_message" }),
    ),
    [fromUser("a"), fromUser("b"), fromSystem("T")],
  ],
  "instructions that only change tools": [
    turns(
      fromUser("a"),
      fromSystem([{ type: "tool_removal", tool: { type: "tool_reference", name: "f" } }]),
      { role: "system", output_config: { effort: "low" } },
    ),
    [fromUser("a")],
  ],
  "one text block": [user({ ...textPart("Hi"), ...mark }), [fromUser("Hi")]],
  "several text blocks": [user(textPart("a"), textPart("b")), [fromUser([textPart("a"), textPart("b")])]],
  "texts and images in their order": [
    user(textPart("a"), png, textPart("b")),
    [fromUser([textPart("a"), pngPart, textPart("b")])],
  ],
  "an image at an address": [
    user({ type: "image", source: { type: "url", url: "https://x.test/a.png" } }),
    [{ role: "user", content: [{ type: "image_url", image_url: { url: "https://x.test/a.png" } }] }],
  ],
  "a PDF": [
    user({
      type: "document",
      title: "Plan",
      source: { type: "base64", media_type: "application/pdf", data: "UEQ=" },
    }),
    [fromUser([{ type: "file", file: { filename: "Plan", file_data: "data:application/pdf;base64,UEQ=" } }])],
  ],
  "a text document": [
    user({
      type: "document",
      title: "Plan",
      context: "Draft",
      source: { type: "text", media_type: "text/plain", data: "T" },
    }),
    [fromUser("Plan\nDraft\n\nT")],
  ],
  "a document of blocks": [
    user({ type: "document", title: "Plan", source: { type: "content", content: [textPart("a"), png] } }),
    [fromUser([textPart("Plan"), textPart("a"), pngPart])],
  ],
  "a search result": [
    user({
      type: "search_result",
      source: "https://x.test",
      title: "X",
      content: [textPart("a"), textPart("b")],
    }),
    [{ role: "user", content: "X\nhttps://x.test\na\nb" }],
  ],
  "text and calls of the model": [
    turns(fromAssistant([textPart("Wait"), { ...use("a", { x: 1 }), ...mark }, use("b", {})])),
    [fromAssistant("Wait", { tool_calls: [call("a", '{"x":1}'), call("b", "{}")] })],
  ],
  "calls alone": [
    turns(fromAssistant([use("a", {})])),
    [fromAssistant(null, { tool_calls: [call("a", "{}")] })],
  ],
  "earlier thoughts": [
    turns(fromAssistant([thinking("T", "s"), { type: "redacted_thinking", data: "x" }, textPart("Yes")])),
    [fromAssistant("Yes")],
  ],
  "thoughts alone": [turns(fromAssistant([thinking("T", "s")])), [fromAssistant(null)]],
  "results ahead of the text": [
    user(textPart("Next"), result("a", "1"), result("b", [textPart("2"), textPart("3")])),
    [fromTool("a", "1"), fromTool("b", "2\n3"), fromUser("Next")],
  ],
  "results without content": [
    user(result("a"), result("b", null), result("c", []), result("d", "")),
    ["a", "b", "c", "d"].map((id) => fromTool(id, "")),
  ],
  "images of results": [
    user(result("a", [textPart("1"), png]), result("b", "2"), textPart("Next")),
    [fromTool("a", "1"), fromTool("b", "2"), fromUser([pngPart, textPart("Next")])],
  ],
  "failed results": [
    user(
      result("a", "no disk", { is_error: true }),
      result("b", "Error: no disk", { is_error: true }),
      result("c", "", { is_error: true }),
    ),
    [fromTool("a", "Error: no disk"), fromTool("b", "Error: no disk"), fromTool("c", "Error:")],
  ],
};

export const schema = { type: "object", properties: { a: { type: "string" } } };
export const tool = { name: "f", description: "d", input_schema: schema };
export const commonTool = { type: "function", function: { name: "f", description: "d", parameters: schema } };

export const parameters: Record<string, [sent: object, expected: object]> = {
  limits: [
    { stop_sequences: ["x"], temperature: 0.2, top_p: 0.9, stream: true },
    { max_tokens: 9, stop: ["x"], temperature: 0.2, top_p: 0.9, stream: true },
  ],
  "an empty list of stops": [{ stop_sequences: [] }, {}],
  tools: [{ tools: [{ ...tool, ...mark }] }, { tools: [commonTool] }],
  "a tool with a type": [{ tools: [{ ...tool, type: "custom" }] }, { tools: [commonTool] }],
  "a strict tool": [
    { tools: [{ ...tool, strict: true }] },
    { tools: [{ type: "function", function: { ...commonTool.function, strict: true } }] },
  ],
  "no tools": [{ tools: [], tool_choice: { type: "auto" } }, {}],
  "the choice auto": [
    { tools: [tool], tool_choice: { type: "auto" } },
    { tools: [commonTool], tool_choice: "auto" },
  ],
  "the choice any": [
    { tools: [tool], tool_choice: { type: "any" } },
    { tools: [commonTool], tool_choice: "required" },
  ],
  "the choice none": [
    { tools: [tool], tool_choice: { type: "none" } },
    { tools: [commonTool], tool_choice: "none" },
  ],
  "the choice of a tool, one at a time": [
    { tools: [tool], tool_choice: { type: "tool", name: "f", disable_parallel_tool_use: true } },
    {
      tools: [commonTool],
      tool_choice: { type: "function", function: { name: "f" } },
      parallel_tool_calls: false,
    },
  ],
  "one tool at a time": [
    { tools: [tool], tool_choice: { type: "auto", disable_parallel_tool_use: true } },
    { tools: [commonTool], tool_choice: "auto", parallel_tool_calls: false },
  ],
  "an effort": [{ reasoning_effort: "low" }, { reasoning_effort: "low" }],
  "the effort of the output": [
    { output_config: { effort: "max" }, reasoning_effort: "low" },
    { reasoning_effort: "max" },
  ],
  "thinking switched off": [
    { thinking: { type: "disabled" }, output_config: { effort: "max" }, reasoning_effort: "low" },
    {},
  ],
  "adaptive thinking": [{ thinking: { type: "adaptive" } }, {}],
  "an effort beside a budget": [
    { thinking: { type: "enabled", budget_tokens: 1024 }, reasoning_effort: "high" },
    { reasoning_effort: "high" },
  ],
  ...Object.fromEntries(
    Object.entries({
      1024: "low",
      2047: "low",
      2048: "medium",
      8191: "medium",
      8192: "high",
      16384: "high",
    }).map(([budget, effort]): [string, [object, object]] => [
      `a budget of ${budget}`,
      [{ thinking: { type: "enabled", budget_tokens: Number(budget) } }, { reasoning_effort: effort }],
    ]),
  ),
  "a schema of the answer": [
    { output_config: { format: { type: "json_schema", schema } } },
    { response_format: { type: "json_schema", json_schema: { name: "response", schema, strict: true } } },
  ],
  "an answer in JSON": [
    { output_config: { format: { type: "json_object" } } },
    { response_format: { type: "json_object" } },
  ],
};

export const refused: Record<string, [sent: object, place: string]> = {
  "no messages": [{ messages: [] }, "body.messages"],
  "no content": [user(), "body.messages.0.content"],
  "no limit": [{ max_tokens: undefined }, "body.max_tokens"],
  "a limit of nothing": [{ max_tokens: 0 }, "body.max_tokens"],
  "an unknown block": [user(textPart("a"), { type: "hologram" }), "body.messages.0.content.1.type"],
  "a block of the other role": [user(use("a", {})), "body.messages.0.content.0.type"],
  "an unknown block in a result": [
    user(result("a", [{ type: "hologram" }])),
    "body.messages.0.content.0.content.0.type",
  ],
  "a file of the vendor": [
    user({ type: "image", source: { type: "file", file_id: "f" } }),
    "body.messages.0.content.0.source.type",
  ],
  "a call without an object": [
    turns(fromAssistant([toolUse("a", "f", "x")])),
    "body.messages.0.content.0.input",
  ],
  "an unknown role": [turns({ role: "oracle", content: "x" }), "body.messages.0.role"],
  "a budget too small": [
    { thinking: { type: "enabled", budget_tokens: 1023 } },
    "body.thinking.budget_tokens",
  ],
  "no budget": [{ thinking: { type: "enabled" } }, "body.thinking.budget_tokens"],
  "a tool without a schema": [{ tools: [{ name: "f" }] }, "body.tools.0.input_schema"],
  "instructions without content": [turns(fromSystem([])), "body.messages.0.content"],
  "an unknown effort": [{ reasoning_effort: "vast" }, "body.reasoning_effort"],
  "an unknown effort of the output": [{ output_config: { effort: "vast" } }, "body.output_config.effort"],
  "an unknown effort where thinking is off": [
    { thinking: { type: "disabled" }, output_config: { effort: "vast" } },
    "body.output_config.effort",
  ],
  "an unknown format": [{ output_config: { format: { type: "yaml" } } }, "body.output_config.format.type"],
  "an unknown choice": [{ tools: [tool], tool_choice: { type: "maybe" } }, "body.tool_choice.type"],
  "a choice of a tool that is not there": [
    { tools: [tool], tool_choice: { type: "tool", name: "g" } },
    "body.tool_choice.name",
  ],
  "a forced call without tools": [{ tool_choice: { type: "any" } }, "body.tool_choice"],
};
