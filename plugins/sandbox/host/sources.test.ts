import { afterAll, describe, expect, it } from "vitest";
import { AppError } from "#kernel/errors.ts";
import type { Batches, Json } from "#kernel/sandbox.ts";
import { openBench, toHost } from "../testing.ts";

const bench = openBench();
const { run } = bench;
afterAll(() => bench.sandbox.close());

/** Streams batches and tells when it was left. */
function createSource(batches: Iterable<readonly Json[]>, failure?: Error) {
  const state = { pulled: 0, isLeft: false };
  async function* source(): Batches {
    try {
      for (const batch of batches) {
        state.pulled += 1;
        yield batch;
      }
      if (failure) {
        throw failure;
      }
    } finally {
      state.isLeft = true;
    }
  }
  return { state, host: { stream: async () => source() } };
}

const endless = function* () {
  for (let n = 0; ; n += 1) {
    yield [n];
  }
};
const collect = `export async function f({ host }) {
  const seen = [];
  for await (const item of await host.stream()) { seen.push(item); }
  return seen; }`;

describe("what a host function streams", () => {
  it("comes to the code item by item", async () => {
    const { host, state } = createSource([[1, { a: "ü" }], [], [null, "last"]]);
    expect(await run(collect, { args: [{}], host })).toEqual([1, { a: "ü" }, null, "last"]);
    expect(state).toEqual({ pulled: 3, isLeft: true });
  });

  it("keeps its order when several items are asked for at once", async () => {
    const { host } = createSource([["a", "b"], ["c"], ["d", "e"]]);
    const source = `export async function f({ host }) {
      const items = await host.stream();
      const steps = await Promise.all(Array.from({ length: 6 }, () => items.next()));
      return steps.map(({ value, done }) => done || value); }`;
    expect(await run(source, { args: [{}], host })).toEqual(["a", "b", "c", "d", "e", true]);
  });

  it("is read no faster than the code takes it, and left when the code breaks off", async () => {
    const { host, state } = createSource(endless());
    const source = `export async function f({ host }) {
      for await (const item of await host.stream()) { if (item === 2) return item; } }`;
    expect(await run(source, { args: [{}], host })).toBe(2);
    await expect.poll(() => state).toEqual({ pulled: 3, isLeft: true });
  });

  it("is left when the call ends", async () => {
    const { host, state } = createSource(endless());
    const source = `export async function f({ host }) {
      const items = await host.stream(); return (await items.next()).value; }`;
    expect(await run(source, { args: [{}], host })).toBe(0);
    await expect.poll(() => state.isLeft).toBe(true);
  });

  it("fails in the code with the text that is meant for it, and ends there", async () => {
    const { host } = createSource([["a"]], new AppError("upstream", "It broke."));
    const source = `export async function f({ host }) {
      const items = await host.stream();
      const seen = [(await items.next()).value];
      try { await items.next(); } catch (error) { seen.push(error.message); }
      return [...seen, (await items.next()).done]; }`;
    expect(await run(source, { args: [{}], host })).toEqual(["a", "It broke.", true]);
    const secret = createSource([], new Error("password 123"));
    await expect(run(collect, { args: [{}], host: secret.host })).rejects.toThrow("The host failed.");
  });

  it("passes through a generator as it comes", async () => {
    const { host } = createSource([["a"], ["b", "c"]]);
    const source = `export async function* f({ host }) { yield* await host.stream(); yield "d"; }`;
    const script = { owner: "ana", id: "generator", source };
    const seen: unknown[] = [];
    for await (const item of bench.sandbox.iterate(script, { name: "f", args: [{}], host: toHost(host) })) {
      seen.push(item);
    }
    expect(seen).toEqual(["a", "b", "c", "d"]);
  });

  it("belongs to its call: no other name and no other call reads it", async () => {
    const { host } = createSource(endless());
    const source = `export async function f({ host }) {
      await host.stream();
      try { await host["source/next"](1); } catch (error) { return error.message; } }`;
    expect(await run(source, { args: [{}], host })).toBe("host.source/next is not available here.");
  });
});
