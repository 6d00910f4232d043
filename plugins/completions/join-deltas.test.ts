import { expect, it } from "vitest";
import type { Chunk } from "#kernel/completion/chunk.ts";
import { joinDeltas } from "./join-deltas.ts";

const text = (content: string): Chunk => ({ id: "c", choices: [{ index: 0, delta: { content }, finish_reason: null }] });
const finish: Chunk = { id: "c", choices: [{ index: 0, delta: {}, finish_reason: "stop" }] };
const usage: Chunk = { id: "c", choices: [], usage: { total_tokens: 3 } };
const call: Chunk = { id: "c", choices: [{ index: 0, delta: { tool_calls: [{ index: 0, id: "t" }] } }] };

async function join(batches: Chunk[][], size: number): Promise<Chunk[]> {
  async function* source() {
    yield* batches;
  }
  const all: Chunk[] = [];
  for await (const batch of joinDeltas(source(), size)) {
    all.push(...batch);
  }
  return all;
}

it("joins text deltas across batches and flushes what is left", async () => {
  expect(await join([[text("a")], [text("b"), text("c")], [text("d")]], 3)).toEqual([text("abc"), text("d")]);
});

it("lets everything else through at once, after the text before it", async () => {
  expect(await join([[text("a"), call, text("b"), finish, usage]], 5)).toEqual([text("a"), call, text("b"), finish, usage]);
});
