import { setImmediate } from "node:timers/promises";
import { afterAll, describe, expect, it } from "vitest";
import type { Json, SandboxError } from "#kernel/sandbox.ts";
import { limits } from "../limits.ts";
import { openBench } from "../testing.ts";

const { sandbox, run, stream } = openBench();
afterAll(() => sandbox.close());

const told: string[] = [];
sandbox.onRepeatedOverrun((id) => void told.push(id));

/** Calls that wait for each other, as those of a queue do. */
const queue = `let last = Promise.resolve();
  export async function f(body, { host }) {
    const mine = last.catch(() => {}).then(() => host.work(body));
    last = mine;
    return await mine;
  }`;

describe("a call that waits for another one", () => {
  it("goes on when that one is ended while it waits for the host", async () => {
    const host = {
      work: (body?: Json) => (body === "stuck" ? new Promise<undefined>(() => {}) : Promise.resolve(body)),
    };
    const stuck = run(queue, { id: "queue", args: ["stuck", {}], host, deadlineMs: 300 });
    const next = run(queue, { id: "queue", args: ["next", {}], host, deadlineMs: 10_000 });
    await expect(stuck).rejects.toMatchObject({ kind: "timeout" });
    expect(await next).toBe("next");
  });

  it("is not to blame for what the host takes", async () => {
    const host = { work: () => new Promise<undefined>(() => {}) };
    const calls = Array.from({ length: 5 }, (_, at) =>
      run(queue, { id: "waits", args: [at, {}], host, deadlineMs: 100 }),
    );
    for (const { status } of await Promise.allSettled(calls)) {
      expect(status).toBe("rejected");
    }
    expect(told).toEqual([]);
  });

  it("ends as it likes with questions that nobody waits for", async () => {
    const host = { work: () => new Promise<undefined>(() => {}) };
    const source = `export const f = (_, { host }) => { host.work(1); host.work(2).then(() => 1); return "done"; }`;
    for (let count = 0; count < 3; count += 1) {
      expect(await run(source, { id: "leaves", args: [0, {}], host })).toBe("done");
    }
  });
});

describe("a call of the owner whose other code", () => {
  const waits = { id: "loop", deadlineMs: limits.sliceMs };
  const spin = "export function f(body) { if (body) for (;;); }";

  it("was taken away while it runs does not wait for its end", async () => {
    await run(spin, waits);
    const loop = run(spin, { ...waits, args: [true] }).catch(({ kind }: SandboxError) => kind);
    await setImmediate();
    sandbox.forget("loop");
    const next = run("export const f = () => 1", { id: "next" });
    expect(await Promise.race([loop, next])).toBe(1);
    expect(await loop).toBe("timeout");
    expect(await run("export const f = () => 1", { id: "next" })).toBe(1);
  });
});

describe("a helper that nobody waits for", () => {
  const host = { emit: () => new Promise<undefined>(() => {}), work: async () => "done" };
  const note = "async function note(host) { await host.emit(); }";

  it("fails neither its short call nor the neighbours of the crossing", async () => {
    const source = `${note} export function f(n, { host }) { if (n === 1) note(host); return n; }`;
    const call = (n: number) => run(source, { id: "notes", args: [n, {}], host, isHook: true });
    expect(await Promise.all([call(1), call(2), call(3)])).toEqual([1, 2, 3]);
  });

  it("fails no call in whose turn its own one ends", async () => {
    const source = `${note} let go; const gate = new Promise((resolve) => (go = resolve));
      export async function f(_, { host }) { note(host); await gate; return "ended"; }
      export async function g(_, { host }) { go(); return await host.work(); }`;
    const options = { id: "turns", args: [0, {}], host };
    const ended = run(source, options);
    expect(await run(source, { ...options, name: "g" })).toBe("done");
    expect(await ended).toBe("ended");
  });
});

it("a call that tries again whatever happens stops with its end, and nothing of that is held against it", async () => {
  const source = `export async function f(_, { host }) {
    for (;;) { try { return await host.complete(); } catch {} } }
    export const g = () => "next";`;
  const options = { id: "tries", args: [0, {}], host: { complete: () => new Promise<undefined>(() => {}) } };
  for (let count = 0; count < 3; count += 1) {
    const gone = new AbortController();
    const call = run(source, { ...options, signal: gone.signal });
    await run(source, { ...options, name: "g" });
    gone.abort(new Error("gone"));
    await expect(call).rejects.toThrow("gone");
    const before = performance.now();
    expect(await run(source, { ...options, name: "g" })).toBe("next");
    expect(performance.now() - before).toBeLessThan(800);
  }
  expect(told).toEqual([]);
});

it("a short call that turns out long does not fail for its neighbours, nor they for it", async () => {
  const source = `export const f = async (count) => {
    await null;
    return "a".repeat(count).replaceAll("a", "b").length;
  }`;
  const call = (count: number) => run(source, { id: "neighbours", args: [count], isHook: true });
  await call(1);
  expect(await Promise.all([call(300_000), call(2), call(3)])).toEqual([300_000, 2, 3]);
});

describe("stream hooks of many runs", () => {
  /** Two ticks of the clock: between one and two milliseconds. */
  const slow = `export function stream(chunk) {
    for (let ticks = 0, last = Date.now(); ticks < 2;) {
      const now = Date.now();
      if (now !== last) { ticks++; last = now; }
    }
    return { ...chunk, seen: true };
  }`;

  it("that take a while each are not laid to the one that runs when the time of a crossing is over", async () => {
    const runs = await Promise.all(Array.from({ length: 60 }, () => stream([slow])));
    for (let turn = 0; turn < 2; turn++) {
      const answers = await Promise.all(runs.map((each, n) => each.push(`[{"n":${n}}]`)));
      expect(answers).toEqual(runs.map((_, n) => `[{"n":${n},"seen":true}]`));
    }
    expect(runs.flatMap(({ failures }) => failures)).toEqual([]);
    runs.forEach((each) => each.close());
  });
});
