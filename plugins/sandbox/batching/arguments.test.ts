import { afterAll, beforeEach, expect, it } from "vitest";
import { openBench } from "../testing.ts";

// What a function is given is its caller's: no size of it may switch the function off for everybody.
const { sandbox, run } = openBench();
afterAll(() => sandbox.close());

const told: string[] = [];
sandbox.onRepeatedOverrun((id) => void told.push(id));
beforeEach(() => void told.splice(0));

const many = Array.from({ length: 1_500_000 }, () => ({}));

it.each([
  ["arguments", { args: [many, {}] }],
  [
    "members of the context that are read later",
    { args: [0, {}], later: { notes: () => JSON.stringify(many) } },
  ],
])("refuses %s of many values, and says why", async (_what, options) => {
  const source = "export const f = (body, { notes }) => (notes ?? body).length";
  for (let count = 0; count < 4; count += 1) {
    await expect(run(source, { id: "many", ...options, isHook: true })).rejects.toMatchObject({
      kind: "value",
      message: "The arguments hold more than 262144 values, which is too much for the sandbox.",
    });
  }
  expect(told).toEqual([]);
});

it("counts values and not what stands in texts", async () => {
  const body = ['a,[{\\"\\', "a,[{,".repeat(300_000)];
  const source = "export const f = (body) => body.map((text) => text.length)";
  expect(await run(source, { id: "texts", args: [body] })).toEqual([7, 1_500_000]);
});

it("lays it to nobody's code when what many callers gave uses up the memory", async () => {
  const source = "export const f = (body) => new Promise((done) => setTimeout(() => done(body.length), 400))";
  const args = ["\u20ac".repeat(6_000_000)];
  const kinds = new Set<unknown>();
  for (let count = 0; count < 5; count += 1) {
    const calls = Array.from({ length: 8 }, () =>
      run(source, { id: "given", args }).catch((error: { kind: string }) => error.kind),
    );
    (await Promise.all(calls)).forEach((answer) => kinds.add(answer));
  }
  expect([...kinds]).toContain("memory");
  expect(told).toEqual([]);
}, 60_000);

it("still lays it to code that keeps what it was given", async () => {
  const source = "const kept = []; export const f = (body) => { for (;;) kept.push([...body]); }";
  for (let count = 0; count < 3; count += 1) {
    await expect(run(source, { id: "keeps", args: ["abc"] })).rejects.toMatchObject({
      name: "SandboxError",
    });
  }
  expect(told).toEqual(["keeps"]);
});
