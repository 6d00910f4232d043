import { expect, it } from "vitest";
import type { Chunk } from "#kernel/completion/chunk.ts";
import { createDeltaJoiner } from "./join-deltas.ts";

const text = (content: string): Chunk => ({
  id: "c",
  choices: [{ index: 0, delta: { content }, finish_reason: null }],
});
const finish: Chunk = { id: "c", choices: [{ index: 0, delta: {}, finish_reason: "stop" }] };
const usage: Chunk = { id: "c", choices: [], usage: { total_tokens: 3 } };
const call: Chunk = { id: "c", choices: [{ index: 0, delta: { tool_calls: [{ index: 0, id: "t" }] } }] };

function join(batches: Chunk[][], size: number): Chunk[] {
  const joiner = createDeltaJoiner(size);
  return [...batches.flatMap((batch) => joiner.add(batch)), ...joiner.end()];
}

it("joins text deltas across batches and flushes what is left", () => {
  expect(join([[text("a")], [text("b"), text("c")], [text("d")]], 3)).toEqual([text("abc"), text("d")]);
});

it("lets everything else through at once, after the text before it", () => {
  expect(join([[text("a"), call, text("b"), finish, usage]], 5)).toEqual([
    text("a"),
    call,
    text("b"),
    finish,
    usage,
  ]);
});
