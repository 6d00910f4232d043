import { describe, expect, test } from "vitest";
import type { Json } from "#kernel/sandbox.ts";
import { createHead, toChunks, toCompletion } from "./pipe-output.ts";

async function* from(items: readonly (Json | undefined)[]) {
  yield* items;
}

async function textOf(items: readonly (Json | undefined)[]): Promise<string> {
  let text = "";
  for await (const batch of toChunks(from(items), createHead("m"))) {
    text += batch.map(({ choices }) => choices?.[0]?.delta.content ?? "").join("");
  }
  return text;
}

describe("what a pipe gives becomes text", () => {
  test.each<[string, (Json | undefined)[], string]>([
    ["texts that begin with a colon", ["a", ": ", ":) b"], "a: :) b"],
    ["nothing and empty texts", [undefined, null, "", "a"], "a"],
    ["numbers and booleans", [1, true], "1true"],
    ["words of event streams", ["event: none", "id: 7\n"], "event: noneid: 7\n"],
    [
      "frames in one piece",
      ['data: {"choices":[{"index":0,"delta":{"content":"a"}}]}\n\ndata: b\n\ndata: [DONE]'],
      "ab",
    ],
    ["several items at once", [["a", "b"]], "ab"],
    ["other objects", [{ answer: 42 }], '{"answer":42}'],
  ])("%s", async (_what, items, text) => {
    expect(await textOf(items)).toBe(text);
    const { choices } = await toCompletion(from(items), createHead("m"));
    expect(choices?.[0]?.message.content).toBe(text);
  });
});

test("tool calls end with the reason of their own, an error ends everything", async () => {
  const call = { index: 0, id: "c", type: "function", function: { name: "f", arguments: "{}" } };
  const items = [{ choices: [{ index: 0, delta: { tool_calls: [call] } }] }];
  const batches = [];
  for await (const batch of toChunks(from(items), createHead("m"))) {
    batches.push(...batch);
  }
  expect(batches.at(-1)?.choices?.[0]?.finish_reason).toBe("tool_calls");
  expect((await toCompletion(from(items), createHead("m"))).choices?.[0]).toMatchObject({
    message: { tool_calls: [{ id: "c", function: { name: "f" } }] },
    finish_reason: "tool_calls",
  });
  await expect(textOf(["a", { error: { detail: "Broken." } }])).rejects.toThrow("Broken.");
});

test("sources come along, streamed and whole", async () => {
  const sources = [{ source: { name: "Guide" }, document: ["a"], metadata: [{}] }];
  const message = { role: "assistant", content: "a" };
  const whole = { choices: [{ index: 0, message }], sources };
  const pieces = [{ choices: [{ index: 0, delta: { content: "a" } }] }, { choices: [], sources }];
  for (const items of [[whole], pieces] as unknown as Json[][]) {
    expect(await toCompletion(from(items), createHead("m"))).toMatchObject({
      choices: [{ message }],
      sources,
    });
    const chunks = [];
    for await (const batch of toChunks(from(items), createHead("m"))) {
      chunks.push(...batch);
    }
    expect(chunks.flatMap((chunk) => chunk["sources"] ?? [])).toEqual(sources);
  }
});

test.each<[string, Json]>([
  ["choices that are none", { choices: [null, 5] }],
  ["a message that is none", { choices: [{ message: null }] }],
  ["calls that are no list", { choices: [{ index: 0, delta: { content: "", tool_calls: {} } }] }],
  ["calls that are none", { choices: [{ index: 0, message: { content: "", tool_calls: [null, 5] } }] }],
])("%s are left out", async (_what, item) => {
  expect(await textOf([item])).toBe("");
  const { choices } = await toCompletion(from([item]), createHead("m"));
  expect(choices?.every(({ message }) => !message.content && message.tool_calls === undefined)).toBe(true);
});

test("an answer without end is given up", async () => {
  async function* endless() {
    for (;;) {
      yield "x".repeat(1e6);
    }
  }
  await expect(toCompletion(endless(), createHead("m"))).rejects.toThrow("longer than 64 MB");
});

test("calls of custom tools, which have no function, come through", async () => {
  const call = { id: "c", type: "custom", custom: { name: "f", input: "x" } };
  const item = {
    choices: [{ index: 0, message: { role: "assistant", content: null, tool_calls: [call, null] } }],
  };
  const { choices } = await toCompletion(from([item] as unknown as Json[]), createHead("m"));
  expect(choices?.[0]?.message.tool_calls).toEqual([call]);
});
