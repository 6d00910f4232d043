import { describe, expect, it } from "vitest";
import type { CompletionRequest } from "#kernel/completion/request.ts";
import {
  fromAssistant,
  fromSystem,
  fromTool,
  fromUser,
  textPart,
  toolCall,
} from "#test/support/wire-parts.ts";
import type { ReadImages } from "./images.ts";
import { toNativeChat } from "./request.ts";

const pixel = "iVBORw0KGgo=";
const readImages: ReadImages = (images) =>
  Promise.resolve(images.map(({ url }) => (url.startsWith("data:") ? pixel : `fetched ${url}`)));

const convert = (request: Record<string, unknown>) =>
  toNativeChat({ model: "m", messages: [], ...request } as CompletionRequest, readImages);

const fieldsOf = async (request: Record<string, unknown>) => {
  const { messages: _messages, stream: _stream, ...fields } = await convert(request);
  return fields;
};

describe("parameters", () => {
  it.each<[string, Record<string, unknown>, Record<string, unknown>]>([
    ["nothing adds nothing", {}, {}],
    ["max_tokens is num_predict (O47)", { max_tokens: 7 }, { options: { num_predict: 7 } }],
    ["the newer limit wins", { max_tokens: 7, max_completion_tokens: 9 }, { options: { num_predict: 9 } }],
    ["a stop is a list", { stop: "x" }, { options: { stop: ["x"] } }],
    ["stops stay a list", { stop: ["x", "y"] }, { options: { stop: ["x", "y"] } }],
    [
      "samplers keep their names",
      { seed: 1, top_k: 40, min_p: 0.05, num_ctx: 4096, repeat_penalty: 1.1, temperature: 0, top_p: 1 },
      {
        options: {
          seed: 1,
          top_k: 40,
          min_p: 0.05,
          num_ctx: 4096,
          repeat_penalty: 1.1,
          temperature: 0,
          top_p: 1,
        },
      },
    ],
    [
      "texts of forms become what the option takes",
      { num_ctx: "4096", temperature: "0.5", use_mmap: "true", num_gpu: 1.9 },
      { options: { num_ctx: 4096, temperature: 0.5, use_mmap: true, num_gpu: 1 } },
    ],
    [
      "options win, and unknown ones go along",
      { temperature: 0.1, options: { temperature: 0.9, num_thread: 4, novelty: "x", max_tokens: 3 } },
      { options: { temperature: 0.9, num_thread: 4, novelty: "x", num_predict: 3 } },
    ],
    [
      "those of older runtimes go along",
      { mirostat: 2, mirostat_tau: 5 },
      { options: { mirostat: 2, mirostat_tau: 5 } },
    ],
    ["null is nothing", { temperature: null, max_tokens: null, options: null }, {}],
    [
      "what the runtime has no word for stays here",
      { logit_bias: { 5: 1 }, n: 2, user: "u", metadata: {}, stream_options: {}, parallel_tool_calls: false },
      {},
    ],
    ["JSON mode", { response_format: { type: "json_object" } }, { format: "json" }],
    ["text mode", { response_format: { type: "text" } }, {}],
    [
      "a schema (O52)",
      {
        response_format: {
          type: "json_schema",
          json_schema: { name: "a", strict: true, schema: { type: "object" } },
        },
      },
      { format: { type: "object" } },
    ],
    ["the runtime's own format", { format: "json" }, { format: "json" }],
    ["a saved schema in text", { format: '{"type":"array"}' }, { format: { type: "array" } }],
    ["keep_alive as text", { keep_alive: "5m" }, { keep_alive: "5m" }],
    ["keep_alive in digits is seconds", { keep_alive: "-1" }, { keep_alive: -1 }],
    ["keep_alive of nothing unloads", { keep_alive: 0 }, { keep_alive: 0 }],
    ["think", { think: false }, { think: false }],
    ["think wins over the effort", { think: true, reasoning_effort: "low" }, { think: true }],
    [
      "fields that both know",
      { logprobs: true, top_logprobs: 3, truncate: false, shift: true },
      { logprobs: true, top_logprobs: 3, truncate: false, shift: true },
    ],
  ])("%s", async (_name, request, expected) => {
    expect(await fieldsOf(request)).toEqual(expected);
  });

  it.each([
    ["none", false],
    ["minimal", "low"],
    ["low", "low"],
    ["medium", "medium"],
    ["high", "high"],
    ["max", "max"],
    ["xhigh", "max"],
    ["ultra", "max"],
  ])("an effort of %s is think %s (O51)", async (effort, think) => {
    expect(await fieldsOf({ reasoning_effort: effort })).toEqual({ think });
  });

  it.each([
    [{ reasoning_effort: "extreme" }, "reasoning_effort"],
    [{ reasoning_effort: "constructor" }, "reasoning_effort"],
    [{ num_ctx: "many" }, "num_ctx"],
    [{ options: { num_ctx: [] } }, "options.num_ctx"],
    [{ options: { use_mmap: "perhaps" } }, "options.use_mmap"],
    [{ options: { stop: [1] } }, "options.stop"],
    [{ response_format: { type: "xml" } }, "response_format.type"],
    [{ response_format: { type: "json_schema" } }, "response_format.json_schema.schema"],
    [{ format: "{" }, "format"],
  ])("%j is refused by the name of its field", async (request, field) => {
    await expect(convert(request)).rejects.toMatchObject({
      code: "invalid",
      message: expect.stringContaining(`${field}:`),
    });
  });
});

describe("tools", () => {
  const tool = (name: string) => ({ type: "function", function: { name, parameters: {} } });
  it.each<[unknown, string[]]>([
    [undefined, ["a", "b"]],
    ["auto", ["a", "b"]],
    ["required", ["a", "b"]],
    ["none", []],
    [{ type: "function", function: { name: "b" } }, ["b"]],
  ])("with tool_choice %j are %j", async (tool_choice, names) => {
    const { tools } = await convert({ tools: [tool("a"), tool("b")], tool_choice });
    expect(((tools ?? []) as ReturnType<typeof tool>[]).map((each) => each.function.name)).toEqual(names);
  });
});

describe("messages", () => {
  it.each<[string, unknown[], unknown[]]>([
    ["plain", [fromUser("Hi")], [fromUser("Hi")]],
    ["of the developer", [{ role: "developer", content: "Be brief" }], [fromSystem("Be brief")]],
    ["without content", [fromAssistant(null)], [fromAssistant("")]],
    [
      "in parts, with images beside the text",
      [
        {
          role: "user",
          content: [
            textPart("What"),
            { type: "image_url", image_url: { url: `data:image/png;base64,${pixel}` } },
            textPart("is this?"),
            { type: "image_url", image_url: "https://example.test/a.png" },
          ],
        },
      ],
      [{ role: "user", content: "What\nis this?", images: [pixel, "fetched https://example.test/a.png"] }],
    ],
    [
      "with images of their own each",
      ["a", "b"].map((name) => ({
        role: "user",
        content: [{ type: "image_url", image_url: `https://example.test/${name}.png` }],
      })),
      ["a", "b"].map((name) => ({
        role: "user",
        content: "",
        images: [`fetched https://example.test/${name}.png`],
      })),
    ],
    [
      "with calls: arguments are objects, results name their tool (O43)",
      [
        fromAssistant("", {
          tool_calls: [toolCall("c1", "weather", '{"city":"Bern"}'), toolCall("c2", "time", "")],
        }),
        fromTool("c2", "noon"),
        fromTool("c1", "sunny"),
      ],
      [
        fromAssistant("", {
          tool_calls: [
            { id: "c1", function: { name: "weather", arguments: { city: "Bern" } } },
            { id: "c2", function: { name: "time", arguments: {} } },
          ],
        }),
        { role: "tool", content: "noon", tool_name: "time", tool_call_id: "c2" },
        { role: "tool", content: "sunny", tool_name: "weather", tool_call_id: "c1" },
      ],
    ],
    [
      "with arguments that a model got wrong",
      [fromAssistant("", { tool_calls: [toolCall("c1", "f", '{"a":'), toolCall("c2", "g", "[1]")] })],
      [
        fromAssistant("", {
          tool_calls: [
            { id: "c1", function: { name: "f", arguments: {} } },
            { id: "c2", function: { name: "g", arguments: {} } },
          ],
        }),
      ],
    ],
    [
      "with thoughts apart from the text",
      [fromAssistant("4", { reasoning_content: "2+2" }), fromAssistant("5", { reasoning: "2+3" })],
      [fromAssistant("4", { thinking: "2+2" }), fromAssistant("5", { thinking: "2+3" })],
    ],
    [
      "with a result of an unknown call",
      [fromTool("gone", "x")],
      [{ role: "tool", content: "x", tool_call_id: "gone" }],
    ],
  ])("%s", async (_name, messages, expected) => {
    expect((await convert({ messages })).messages).toEqual(expected);
  });

  it("with parts the runtime has no place for are refused by their place", async () => {
    const messages = [fromUser("a"), fromUser([textPart("b"), { type: "input_audio", input_audio: {} }])];
    await expect(convert({ messages })).rejects.toMatchObject({
      code: "invalid",
      message: expect.stringContaining("messages.1.content.1"),
    });
  });
});
