import { afterEach, describe, expect, it } from "vitest";
import { type Bench, openBench } from "../testing.ts";

const source = `
  globalThis.seen ??= [];
  export function f(who, { host }) { seen.push(who); console.log(who); return { seen, host: typeof host.log }; }
  export async function later(who, { host }) { return await host.twice(who); }
  export function stream(chunk) { seen.push(chunk.n); chunk.n = seen.length; return chunk; }`;
let bench: Bench;
afterEach(() => bench.sandbox.close());

describe("an isolate that waits for its owner", () => {
  it("is there once somebody has code that runs, and another when it was taken", async () => {
    bench = openBench();
    const { sandbox, run } = bench;
    expect(sandbox.warm()).toBe(0);
    for (const owner of ["ana", "bo", "cy"]) {
      expect(await run(source, { owner, id: owner, args: [owner, {}] })).toEqual({
        seen: [owner],
        host: "function",
      });
      expect(sandbox.logs(owner).map(({ text }) => text)).toEqual([owner]);
      await expect.poll(() => sandbox.warm()).toBe(1);
    }
    expect(sandbox.isolates()).toBe(3);
    const host = { twice: async (who: unknown) => `${String(who)}${String(who)}` };
    expect(await run(source, { owner: "cy", id: "cy", name: "later", args: ["cy", {}], host })).toBe("cycy");
  });

  it("serves hooks on the event loop's own thread", async () => {
    bench = openBench();
    const { sandbox, run, stream } = bench;
    const hook = (owner: string) => run(source, { owner, id: owner, args: [owner, {}], isHook: true });
    expect(await hook("bo")).toMatchObject({ seen: ["bo"] });
    await expect.poll(() => sandbox.warm()).toBe(1);
    const chain = await stream([source, source]);
    // Contexts of one isolate, each with globals of its own.
    expect(await chain.push('[{"n":7},{"n":8}]')).toBe('[{"n":1},{"n":2}]');
    chain.close();
    expect(chain.failures).toEqual([]);
    expect(await hook("bo")).toMatchObject({ seen: ["bo", "bo"] });
  });

  it("stops a hook that calls itself without end, as deep in the loop's own stack as it got", async () => {
    bench = openBench();
    const { sandbox, run, stream } = bench;
    const hook = (owner: string, code: string) =>
      run(code, { owner, id: owner, args: [owner, {}], isHook: true });
    await hook("bo", source);
    await expect.poll(() => sandbox.warm()).toBe(1);
    const endless = `export const f = () => f();
      export function stream(chunk) { return stream(chunk); }`;
    await expect(hook("cy", endless)).rejects.toThrow("Maximum call stack size exceeded");
    await expect.poll(() => sandbox.warm()).toBe(1);
    const chain = await stream([endless]);
    expect(await chain.push('[{"n":1}]')).toBe('[{"n":1}]');
    expect(chain.failures).toHaveLength(1);
    chain.close();
  });

  it("ends what never returns like any other, and is replaced", async () => {
    bench = openBench();
    const { sandbox, run } = bench;
    await run(source, { owner: "ana", id: "ana", args: ["ana", {}] });
    await expect.poll(() => sandbox.warm()).toBe(1);
    await expect(
      run("export const f = () => { for (;;); }", { owner: "bo", id: "loop" }),
    ).rejects.toMatchObject({
      kind: "timeout",
    });
    expect(await run(source, { owner: "bo", id: "bo", args: ["bo", {}] })).toMatchObject({ seen: ["bo"] });
  });
});
