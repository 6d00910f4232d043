import { afterAll, describe, expect, it } from "vitest";
import { limits } from "./limits.ts";
import { openBench } from "./testing.ts";

// Many calls are given the same members of a context: what is made of them once must be nobody's to change.
const { run, stream, sandbox } = openBench();
afterAll(() => sandbox.close());

const shared = JSON.stringify({ user: { id: "ana" }, valves: { words: [{ from: "a" }] }, id: "f" });

describe.each([true, false])("members that calls share (as a hook: %s)", (isHook) => {
  const call = (source: string, options: { args?: readonly unknown[]; shared?: string } = {}) =>
    run(source, { id: `shared ${isHook}`, args: [1, {}], shared, isHook, ...options });

  it("stand in the context like its own, which come first", async () => {
    const source =
      "export const f = (body, ctx) => [{ ...ctx }, Object.keys(ctx).sort(), JSON.stringify(ctx.valves)];";
    expect(await call(source, { args: [1, { chat_id: "c", id: "sub" }] })).toEqual([
      { user: { id: "ana" }, valves: { words: [{ from: "a" }] }, id: "sub", chat_id: "c" },
      ["chat_id", "id", "user", "valves"],
      '{"words":[{"from":"a"}]}',
    ]);
  });

  it("cannot be changed, at any depth, not even by code that changed the language first", async () => {
    const source = `
      Object.freeze = (value) => value;
      Object.keys = () => [];
      export function f(body, ctx) {
        const refused = [];
        for (const change of [
          () => { ctx.user = 1; },
          () => { ctx.user.id = "bob"; },
          () => { ctx.valves.more = 1; },
          () => { ctx.valves.words.push(1); },
          () => { ctx.valves.words[0].from = "b"; },
          () => { delete ctx.valves.words[0].from; },
        ]) {
          try { change(); refused.push(""); } catch (error) { refused.push(error.name); }
        }
        return [refused, ctx.user.id, ctx.valves];
      }`;
    for (let n = 0; n < 2; n++) {
      expect(await call(source)).toEqual([
        Array.from({ length: 6 }, () => "TypeError"),
        "ana",
        { words: [{ from: "a" }] },
      ]);
    }
  });

  it("are those that each call was given", async () => {
    const source = "export const f = (body, ctx) => [body, ctx.n, ctx.long.length];";
    // More than are kept.
    const calls = Array.from({ length: 300 }, (_, n) =>
      call(source, { args: [n, {}], shared: JSON.stringify({ n, long: "x".repeat(2000) }) }),
    );
    expect(await Promise.all(calls)).toEqual(calls.map((_, n) => [n, n, 2000]));
  });

  it("count like arguments", async () => {
    const source = "export const f = (body, ctx) => ctx.long.length;";
    const long = "x".repeat(limits.inlineLength);
    expect(await call(source, { shared: JSON.stringify({ long }) })).toBe(long.length);
    const many = JSON.stringify({ long: Array.from({ length: limits.argumentsValues + 1 }, () => 1) });
    await expect(call(source, { shared: many })).rejects.toMatchObject({
      kind: "value",
      message: expect.stringContaining("too much for the sandbox"),
    });
  });

  it("may be nested deep, and have any name", async () => {
    const depth = 3000;
    const nested = `{"a":${"[".repeat(depth)}${"]".repeat(depth)},"__proto__":{"b":1},"constructor":2}`;
    const source = `export function f(body, ctx) {
      let at = ctx.a;
      let depth = 0;
      for (; at; at = at[0]) depth += Object.isFrozen(at) ? 1 : 0;
      return [depth, ctx.b ?? null, ctx.constructor];
    }`;
    expect(await call(source, { shared: nested })).toEqual([depth, null, 2]);
  });
});

it("runs of a stream hook share them, too", async () => {
  const source = `export function stream(chunk, ctx) {
    try { ctx.valves.seen = true; } catch (error) { chunk.refused = error.name; }
    return { ...chunk, user: ctx.user.id, seen: ctx.valves.seen ?? false };
  }`;
  for (let n = 0; n < 2; n++) {
    const chain = await stream([source], JSON.parse(shared));
    expect(JSON.parse(await chain.push("[{}]"))).toEqual([
      { refused: "TypeError", user: "ana", seen: false },
    ]);
    chain.close();
    expect(chain.failures).toEqual([]);
  }
});
