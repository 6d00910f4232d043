import { expect, test } from "vitest";
import type { Delta } from "#kernel/completion/chunk.ts";
import { chunk } from "#test/support/upstream-chunks.ts";
import { ReplyRoom } from "./room.ts";

/** What is left of deltas in a room for ten characters, and whether it is full. */
function fit(...deltas: Delta[]) {
  const room = new ReplyRoom([], 10);
  const fitted = deltas.map((delta) => room.fit(chunk(delta)).choices?.[0]?.delta);
  let problem: string | undefined;
  try {
    room.check();
  } catch (error) {
    problem = (error as Error).message;
  }
  return { fitted, isFull: problem?.includes("grew beyond") === true };
}

test("a reply that fits is left as it is", () => {
  const deltas = [{ content: "Hello" }, { reasoning: "12345" }];
  expect(fit(...deltas)).toMatchObject({ fitted: deltas, isFull: false });
});

test.each<[string, Delta, Delta]>([
  ["text", { content: "abcdef" }, { content: "abcde" }],
  ["reasoning", { reasoning_content: "abcdef" }, { reasoning_content: "abcde" }],
  ["a refusal", { refusal: "abcdef" }, { refusal: "abcde" }],
  [
    "a call, which is left out whole",
    { tool_calls: [{ index: 0, function: { name: "f", arguments: '{"a":1}' } }] },
    {},
  ],
  ["what a provider wants back, which is left out whole", { reasoning_details: [{ data: "abcdef" }] }, {}],
])("what is too much is cut off: %s", (_, delta, expected) => {
  const { fitted, isFull } = fit({ content: "12345" }, delta);
  expect([fitted[1], isFull]).toEqual([expected, true]);
});
