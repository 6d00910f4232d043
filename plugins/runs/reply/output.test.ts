import { toContent } from "#kernel/completion/reply-text.ts";
import { describe, expect, it } from "vitest";
import type { Delta } from "#kernel/completion/chunk.ts";
import { chunk, toolCallChunks } from "#test/support/upstream-chunks.ts";
import { fromOutput } from "../history/history.ts";
import type { OutputItem } from "./items.ts";
import { Output } from "./output.ts";
import { knownTags } from "#kernel/completion/reasoning-tags.ts";
import { createUsageTotal } from "./usage.ts";

/** What deltas become: the kinds and texts of the items, and what an observer was told. */
function build(deltas: readonly Delta[]) {
  const told: string[] = [];
  let time = 1_700_000_000_000;
  const output = new Output(
    {
      delta: (item, kind, text) => told.push(`${item.type} ${kind} ${text}`),
      details: () => {},
      border: (item) => told.push(`${item.type} ${"status" in item ? String(item.status) : ""}`),
    },
    { tags: knownTags, now: () => (time += 500) },
  );
  deltas.forEach((delta) => output.add(chunk(delta)));
  const calls = output.endRound();
  return { items: output.items, told, calls };
}

const shown = (items: readonly OutputItem[]) =>
  items.map((item) => {
    if (item.type === "message" || item.type === "reasoning") {
      const parts = item.content as readonly Record<string, string>[];
      return `${item.type}: ${parts.map((part) => part["text"] ?? `!${part["refusal"]}`).join("|")}`;
    }
    return item.type === "function_call"
      ? `call: ${String(item.name)}(${String(item.arguments)})`
      : item.type;
  });

describe("deltas become items", () => {
  it.each<[string, Delta[], string[]]>([
    ["text", [{ role: "assistant" }, { content: "Hel" }, { content: "lo" }], ["message: Hello"]],
    ["text with blanks of its own", [{ content: "\n" }, { content: " Hi" }], ["message: \n Hi"]],
    [
      "reasoning_content, then text",
      [{ reasoning_content: "a" }, { reasoning_content: "b" }, { content: "c" }],
      ["reasoning: ab", "message: c"],
    ],
    ["the field reasoning", [{ reasoning: "a" }, { content: "c" }], ["reasoning: a", "message: c"]],
    ["tags in the text", [{ content: "<th" }, { content: "ink>a</think>b" }], ["reasoning: a", "message: b"]],
    ["a refusal", [{ refusal: "I can" }, { refusal: "not" }], ["message: |!I cannot"]],
    ["nothing but blanks", [{ content: " " }, { content: "\n" }], []],
    [
      "arguments that come as an object",
      [{ tool_calls: [{ index: 0, id: "c", function: { name: "f", arguments: { a: 1 } as never } }] }],
      ['call: f({"a":1})'],
    ],
    [
      "name and id on every piece",
      ["{", "}"].map((text) => ({
        tool_calls: [{ index: 0, id: "c", function: { name: "f", arguments: text } }],
      })),
      ["call: f({})"],
    ],
  ])("%s", (_name, deltas, expected) => {
    expect(shown(build(deltas).items)).toEqual(expected);
  });

  it("two calls whose pieces come interleaved", () => {
    const chunks = toolCallChunks([
      { id: "a", name: "first", arguments: '{"x": 1}' },
      { id: "b", name: "second", arguments: '{"y": 2}' },
    ]);
    const deltas = [{ content: "Let me see" }, ...chunks.map((each) => each.choices?.[0]?.delta ?? {})];
    const { items, calls } = build(deltas);
    expect(shown(items)).toEqual(["message: Let me see", 'call: first({"x": 1})', 'call: second({"y": 2})']);
    expect(calls.map(({ call_id: id, status }) => [id, status])).toEqual([
      ["a", "completed"],
      ["b", "completed"],
    ]);
  });

  it("tells every item when it begins and when it ends, and how long thinking took", () => {
    const { told, items } = build([{ reasoning_content: "a" }, { content: "b" }]);
    expect(told).toEqual([
      "reasoning in_progress",
      "reasoning reasoning a",
      "reasoning completed",
      "message in_progress",
      "message text b",
      "message completed",
    ]);
    expect(items[0]).toMatchObject({ duration: expect.any(Number), started_at: expect.any(Number) });
  });
});

it("the next round sends calls and results back, and never what was thought", () => {
  const { items } = build([
    { reasoning_content: "hmm", reasoning_details: [{ signature: "s" }] },
    { content: "Look:" },
  ]);
  const call: OutputItem = {
    type: "function_call",
    id: "c",
    status: "completed",
    call_id: "c",
    name: "f",
    arguments: "",
  };
  const result: OutputItem = {
    type: "function_call_output",
    id: "o",
    status: "completed",
    call_id: "c",
    output: [
      { type: "input_text", text: "one" },
      { type: "input_image", image_url: "data:image/png;base64,AA==" },
    ],
  };
  expect(fromOutput([...items, call, result, ...build([{ content: "Done" }]).items])).toEqual([
    {
      role: "assistant",
      content: "Look:",
      reasoning_details: [{ signature: "s" }],
      tool_calls: [{ id: "c", type: "function", function: { name: "f", arguments: "{}" } }],
    },
    { role: "tool", tool_call_id: "c", content: "one" },
    { role: "user", content: [{ type: "image_url", image_url: { url: "data:image/png;base64,AA==" } }] },
    { role: "assistant", content: "Done" },
  ]);
  expect(toContent([...items, ...build([{ content: "Done" }]).items])).toBe("Look:\nDone");
});

it("usage tells the latest call and the whole reply", () => {
  const usage = createUsageTotal();
  expect(usage.total()).toBeUndefined();
  usage.add({ prompt_tokens: 10, completion_tokens: 2, total_tokens: 12 });
  usage.add(undefined);
  usage.add({ input_tokens: 20, output_tokens: 3, prompt_tokens_details: { cached_tokens: 10 } });
  expect(usage.total()).toEqual({
    prompt_tokens: 20,
    completion_tokens: 3,
    input_tokens: 30,
    output_tokens: 5,
    total_tokens: 35,
    prompt_tokens_details: { cached_tokens: 10 },
  });
});
