import { describe, expect, it } from "vitest";
import { createAccumulator } from "#kernel/completion/accumulate.ts";
import { ending, line } from "#test/support/runtime.ts";
import { packVectors } from "#kernel/upstream/pack-vectors.ts";
import { fromAssistant } from "#test/support/wire-parts.ts";
import { fromNativeEmbed, toNativeEmbed } from "../request/embeddings.ts";
import { LineParser } from "./line-parser.ts";
import { createHead, toCompletion } from "./reply.ts";
import { lowest } from "../backends/version.ts";

const head = createHead("box.llama3:latest");
type Value = Record<string, unknown>;

/** Parses a body cut into pieces of `size` bytes. */
function parse(text: string, { size = 1e9, hasUsageChunk = false } = {}) {
  const skipped: string[] = [];
  const parser = new LineParser({
    head,
    hasUsageChunk,
    skipped: (reason) => skipped.push(reason),
  });
  const bytes = Buffer.from(text);
  const chunks = [];
  for (let at = 0; at < bytes.length && !parser.isDone; at += size) {
    parser.push(bytes.subarray(at, at + size));
    chunks.push(...parser.take());
  }
  if (!parser.isDone) {
    parser.end();
    chunks.push(...parser.take());
  }
  const accumulator = createAccumulator();
  chunks.forEach((chunk) => accumulator.add(chunk));
  return { chunks, skipped, accumulator, problem: parser.failure ?? parser.findProblem() };
}

const toText = (lines: readonly Value[]) => lines.map((each) => `${JSON.stringify(each)}\n`).join("");
const called = (name: string, args: unknown, more: Value = {}) => ({
  ...more,
  function: { name, arguments: args },
});

describe("a stream of lines", () => {
  it.each([1, 3, 7, 64, 1e9])("is the same in pieces of %i bytes", (size) => {
    const text = toText([
      line({ thinking: "größer" }),
      line({ content: "Grüße " }),
      line({ content: "世界" }),
      line({}, ending),
    ]);
    const { accumulator, problem, chunks } = parse(text, { size });
    expect(problem).toBeUndefined();
    expect(accumulator.message()).toEqual(fromAssistant("Grüße 世界", { reasoning_content: "größer" }));
    expect(accumulator.finishReason()).toBe("stop");
    expect(chunks[0]?.choices?.[0]?.delta.role).toBe("assistant");
    expect(new Set(chunks.map((chunk) => chunk.model))).toEqual(new Set(["box.llama3:latest"]));
  });

  it("tells thoughts and text of one line in two chunks, the thoughts first", () => {
    const { chunks } = parse(
      toText([line({ thinking: "Hm", content: "Yes", tool_calls: [called("f", {})] }), line({}, ending)]),
    );
    expect(chunks.slice(0, 2).map(({ choices }) => choices?.[0]?.delta)).toEqual([
      { role: "assistant", reasoning_content: "Hm" },
      { content: "Yes", tool_calls: [expect.objectContaining({ index: 0 })] },
    ]);
  });

  it("tells usage on the last chunk, or in one of its own when asked (O41)", () => {
    const text = toText([line({ content: "Hi" }), line({}, ending)]);
    const counts = {
      prompt_tokens: 10,
      completion_tokens: 5,
      total_tokens: 15,
      total_duration: ending.total_duration,
    };
    const plain = parse(text).chunks;
    expect(plain.at(-1)).toMatchObject({ choices: [{ finish_reason: "stop" }], usage: counts });
    const asked = parse(text, { hasUsageChunk: true }).chunks;
    expect(asked.at(-1)).toMatchObject({ choices: [], usage: counts });
    expect(asked.filter((chunk) => chunk.usage)).toHaveLength(1);
  });

  it("numbers tool calls over all lines, writes arguments as text and makes ids (O42)", () => {
    const { accumulator, chunks } = parse(
      toText([
        line({ tool_calls: [called("weather", { city: "Bern" })] }),
        line({ tool_calls: [called("time", {}, { id: "given" })] }),
        line({}, ending),
      ]),
    );
    const calls = accumulator.message().tool_calls ?? [];
    expect(calls.map(({ function: each }) => each)).toEqual([
      { name: "weather", arguments: '{"city":"Bern"}' },
      { name: "time", arguments: "{}" },
    ]);
    expect(calls[0]?.id).toMatch(/^call_\w{24}$/);
    expect(calls[1]?.id).toBe("given");
    expect(chunks.at(-1)?.choices?.[0]?.finish_reason).toBe("tool_calls");
  });

  it.each<[string, Value[], string, string]>([
    ["text on the last line", [line({ content: "all" }, ending)], "all", "stop"],
    [
      "an end by length",
      [line({ content: "al" }), line({}, { ...ending, done_reason: "length" })],
      "al",
      "length",
    ],
    [
      "a call that was cut",
      [line({ tool_calls: [called("f", {})] }), line({}, { ...ending, done_reason: "length" })],
      "",
      "length",
    ],
    ["nothing but an end", [line({}, { done: true })], "", "stop"],
    [
      "fields of other types",
      [
        line({ content: 5, thinking: {}, tool_calls: "x" }),
        line({ content: ["x"] }, { done: true, eval_count: "9" }),
      ],
      "5",
      "stop",
    ],
    ["a message that is none", [{ ...line({}), message: "x" }, line({}, ending)], "", "stop"],
  ])("with %s is read", (_name, lines, content, finish) => {
    const { accumulator, problem } = parse(toText(lines));
    expect(problem).toBeUndefined();
    expect([accumulator.message().content, accumulator.finishReason()]).toEqual([content, finish]);
  });

  it.each<[string, string, unknown, string[]]>([
    ["a half line", toText([line({ content: "Hi" })]) + '{"model":"llama3', { code: "upstream" }, ["broken"]],
    ["a missing end", toText([line({ content: "Hi" })]), { code: "upstream" }, []],
    ["no line at all", "", { code: "upstream" }, []],
    ["a page", "<!doctype html>\n<html>\n", { code: "upstream" }, ["broken", "broken"]],
    ["a list", "[]\n", { code: "upstream" }, ["broken"]],
    [
      "an error line",
      toText([line({ content: "Hi" }), { error: "out of memory" }]),
      { status: 502, body: expect.stringContaining("out of memory") },
      [],
    ],
    ["a line that never ends", "x".repeat(17 * 1024 * 1024), expect.anything(), []],
  ])("with %s is no reply", (_name, text, expected, skipped) => {
    let result: { problem: unknown; skipped: string[] };
    try {
      result = parse(text);
    } catch (error) {
      result = { problem: error, skipped: [] };
    }
    expect(result.problem).toMatchObject(expected as object);
    expect(result.skipped).toEqual(skipped);
  });

  it("goes on behind a broken line", () => {
    const text = `${toText([line({ content: "a" })])}{broken\n\n${toText([line({ content: "b" }), line({}, ending)])}`;
    const { accumulator, skipped, problem } = parse(text);
    expect([accumulator.message().content, skipped, problem]).toEqual(["ab", ["broken"], undefined]);
  });
});

describe("a whole answer", () => {
  it("becomes a completion", () => {
    const answer = line(
      { content: "Hi", thinking: "hm", tool_calls: [called("f", { a: 1 })] },
      { ...ending, logprobs: [{ token: "Hi" }] },
    );
    expect(toCompletion(JSON.stringify(answer), head)).toMatchObject({
      id: head.id,
      object: "chat.completion",
      model: "box.llama3:latest",
      choices: [
        {
          index: 0,
          finish_reason: "tool_calls",
          logprobs: { content: [{ token: "Hi" }] },
          message: fromAssistant("Hi", {
            reasoning_content: "hm",
            tool_calls: [{ type: "function", function: { name: "f", arguments: '{"a":1}' } }],
          }),
        },
      ],
      usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
    });
  });

  it.each([
    ["{", { code: "upstream" }],
    ["[]", { code: "upstream" }],
    ['{"done":true}', { code: "upstream" }],
    ['{"error":"no memory"}', { status: 502 }],
  ])("%s is none", (text, expected) => {
    expect(() => toCompletion(text, head)).toThrow(expect.objectContaining(expected));
  });
});

describe("embeddings", () => {
  it("come in the common format, in numbers or packed (O59)", () => {
    const native = JSON.stringify({
      embeddings: [
        [1, -2.5],
        [0.25, 4],
      ],
      prompt_eval_count: 6,
    });
    const plain = fromNativeEmbed(native, "m", "float");
    expect(plain).toEqual({
      object: "list",
      model: "m",
      data: [
        { object: "embedding", index: 0, embedding: [1, -2.5] },
        { object: "embedding", index: 1, embedding: [0.25, 4] },
      ],
      usage: { prompt_tokens: 6, total_tokens: 6 },
    });
    const packed = fromNativeEmbed(native, "m", "base64")["data"] as { embedding: string }[];
    // 1 and -2.5 as little-endian 32-bit floats.
    expect(Buffer.from(packed[0]!.embedding, "base64").toString("hex")).toBe("0000803f000020c0");
    expect(JSON.parse(packVectors(JSON.stringify(plain))).data).toEqual(packed);
    expect(JSON.parse(packVectors(packVectors(JSON.stringify(plain)))).data).toEqual(packed);
  });

  it("take texts and what the runtime knows besides", () => {
    const request = { model: "m", input: ["a"], dimensions: 4, keep_alive: "10", user: "u", truncate: null };
    expect(toNativeEmbed(request)).toEqual({ input: ["a"], dimensions: 4, keep_alive: 10 });
    expect(() => toNativeEmbed({ model: "m", input: [1, 2] })).toThrow(
      expect.objectContaining({ code: "invalid" }),
    );
    for (const odd of ["{}", '{"embeddings":[["x"]]}', "no"]) {
      expect(() => fromNativeEmbed(odd, "m", "float")).toThrow(expect.objectContaining({ code: "upstream" }));
    }
  });
});

it.each([
  [["0.12.3", "0.9.10"], "0.9.10"],
  [["0.12.3", "0.12.3-rc1"], "0.12.3-rc1"],
  [["1.0", "1.0.1"], "1.0"],
  [[], undefined],
])("the lowest of %j is %s", (versions, expected) => {
  expect(lowest(versions)).toBe(expected);
});
