import { monitorEventLoopDelay } from "node:perf_hooks";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { limits } from "./limits.ts";
import type { SandboxError } from "./sandbox.ts";
import { openBench } from "./testing.ts";

// Promise R26: whatever the code of one owner does, it gets a typed error in time, and others feel nothing of it.
const bench = openBench();
const { sandbox, run, stream } = bench;
afterAll(() => sandbox.close());

const neighbour = { owner: "ben", id: "neighbour" };
beforeEach(async () => void (await run("export const f = () => 1", neighbour)));

interface Bad {
  /** One of them, where it depends on the machine which limit is met first. */
  readonly kind: SandboxError["kind"] | readonly SandboxError["kind"][];
  readonly body: string;
}

const loops: Record<string, Bad> = {
  "runs for ever": { kind: "timeout", body: "for (;;);" },
  "spins microtasks": { kind: "timeout", body: "return (async () => { for (;;) await null; })();" },
  "spins rejections": {
    kind: "timeout",
    body: "const spin = () => Promise.reject().catch(spin); return spin();",
  },
  "iterates for ever": {
    kind: ["timeout", "memory"],
    body: "return [...(function* () { for (;;) yield 1; })()];",
  },
  "matches for ever": { kind: "timeout", body: "return /^(a+)+$/.test('a'.repeat(40) + 'b');" },
  "never settles": { kind: "timeout", body: "return new Promise(() => {});" },
  "is a thenable that never answers": { kind: "timeout", body: "return { then() {} };" },
  "catches its end and goes on": {
    kind: "timeout",
    body: "for (;;) { try { for (;;); } catch {} finally { continue; } }",
  },
  "sets timers for ever": {
    kind: "timeout",
    body: "const again = () => setTimeout(again, 0); again(); return new Promise(() => {});",
  },
  "searches a list without end": {
    kind: "thrown",
    body: "return Array.prototype.indexOf.call({ length: 2 ** 53 - 1 }, 1);",
  },
  "sorts a list without end": { kind: "thrown", body: "return Array(4e9).sort();" },
  recurses: { kind: "thrown", body: "const g = () => g(); return g();" },
  "recurses in JSON": {
    kind: ["value", "timeout"],
    body: "let a = []; for (let i = 0; i < 1e5; i++) a = [a]; return a;",
  },
};

const memory: Record<string, Bad> = {
  "keeps lists": {
    kind: ["memory", "timeout"],
    body: "const a = []; for (;;) a.push(new Array(10000).fill(a.length));",
  },
  "keeps texts": {
    kind: ["memory", "timeout"],
    body: "const a = []; for (let i = 0; ; i++) a.push(('x' + i).repeat(1e5).split('x').join('yy'));",
  },
  "keeps buffers": { kind: "thrown", body: "const a = []; for (;;) a.push(new Uint8Array(2e7).fill(1));" },
  "asks for 2 GB at once": { kind: "thrown", body: "return new ArrayBuffer(2 ** 31).byteLength;" },
  "grows a buffer": {
    kind: "thrown",
    body: "const b = new ArrayBuffer(8, { maxByteLength: 2e9 }); b.resize(1e9);",
  },
  "fills a giant list": { kind: "thrown", body: "return Array(1e9).fill(0);" },
  "copies a giant list": { kind: "thrown", body: "return Array.from({ length: 1e9 });" },
  "repeats a text": { kind: "thrown", body: "return 'x'.repeat(2 ** 28);" },
  "doubles a text": { kind: "thrown", body: "let s = 'ab'; for (;;) s += s;" },
  "flattens a giant text": {
    kind: "thrown",
    body: "let s = 'ab'; for (let i = 0; i < 27; i++) s += s; return s.split('');",
  },
  "answers 100 MB": {
    kind: ["memory", "timeout"],
    body: "return Array.from({ length: 100 }, () => 'x'.repeat(1e6) + Math.random());",
  },
  "answers more than may be": {
    kind: "value",
    body: "let s = 'x'.repeat(1e6); return Array.from({ length: 17 }, () => s);",
  },
};

const values: Record<string, Bad> = {
  "throws a text": { kind: "thrown", body: "throw 'text';" },
  "throws null": { kind: "thrown", body: "throw null;" },
  "throws what cannot be shown": { kind: "thrown", body: "throw { get message() { throw 1; } };" },
  "rejects with a proxy": {
    kind: "thrown",
    body: "return Promise.reject(new Proxy({}, { has() { throw 1; }, get() { throw 1; } }));",
  },
  "answers a cycle": { kind: "value", body: "const a = {}; a.a = a; return a;" },
  "answers a BigInt": { kind: "value", body: "return { n: 1n };" },
  "answers a Symbol": { kind: "value", body: "return Symbol('s');" },
  "answers a function": { kind: "value", body: "return () => 1;" },
  "answers a getter that throws": { kind: "value", body: "return { get a() { throw new Error('no'); } };" },
  "answers a proxy that throws": {
    kind: "value",
    body: "return new Proxy({}, { ownKeys() { throw new Error('no'); } });",
  },
  "loops while it is read": { kind: "timeout", body: "return { toJSON() { for (;;); } };" },
  "is a thenable that throws": { kind: "thrown", body: "return { then() { throw new Error('no'); } };" },
};

/** A busy machine takes time now and then; code that holds the loop does it every time. */
const busy = { retry: 3 };

const all = Object.entries({ ...loops, ...memory, ...values });

describe.each([
  ["code that", false],
  ["a hook that", true],
])("%s", (_title, isHook) => {
  it.each(all)(
    "%s gets a typed error in time, and its neighbours go on",
    busy,
    async (_name, { body, kind }) => {
      const delays = monitorEventLoopDelay({ resolution: 5 });
      delays.enable();
      const started = performance.now();
      const bad = run(`export function f() { ${body} }`, { id: "bad", deadlineMs: 500, isHook }).then(
        (value) => ({ value }),
        (error: unknown) => error,
      );
      let answered = 0;
      while ((await Promise.race([bad, run("export const f = () => 1", { ...neighbour, isHook })])) === 1) {
        answered += 1;
      }
      const error = (await bad) as SandboxError;
      expect(error.name).toBe("SandboxError");
      expect([kind].flat()).toContain(error.kind);
      expect(performance.now() - started).toBeLessThan(limits.sliceMs + limits.graceMs + 1500);
      delays.disable();
      expect(delays.percentile(99) / 1e6).toBeLessThan(50);
      // The same owner's code runs again at the next call.
      expect(await run("export const f = () => 2", { id: "good", isHook })).toBe(2);
      expect(await run("export const f = () => 1", { ...neighbour, isHook })).toBe(1);
      expect(answered).toBeGreaterThanOrEqual(0);
    },
  );
});

describe("a stream hook that", () => {
  const {
    "asks for 2 GB at once": big,
    "fills a giant list": list,
    "runs for ever": loop,
  } = { ...loops, ...memory };
  const cases = Object.entries({
    big,
    list,
    loop,
    spin: loops["matches for ever"],
    cycle: loops["recurses"],
  });

  it.each(cases)("does bad things (%s) costs its run no chunk", busy, async (_name, bad) => {
    const chain = await stream([
      `export function stream(c) { if (c.n === 2) { ${bad?.body} } c.ok = true; }`,
    ]);
    expect(await chain.push('[{"n":1}]')).toBe('[{"n":1,"ok":true}]');
    const started = performance.now();
    expect(await chain.push('[{"n":2},{"n":3}]')).toMatch(/^\[\{"n":2\},\{"n":3\}\]$/);
    expect(performance.now() - started).toBeLessThan(200);
    expect(chain.failures).toHaveLength(1);
    chain.close();
  });

  it("uses up its memory ends the chain, not the run", async () => {
    const chain = await stream([
      "const kept = []; export function stream(c) { for (let i = 0; i < 200; i++) kept.push(new Array(1000).fill(c.n)); c.n++; }",
    ]);
    let text = '[{"n":1}]';
    for (let at = 0; at < 2000 && chain.failures.length === 0; at++) {
      text = await chain.push('[{"n":1}]');
    }
    expect(chain.failures[0]).toMatch(/more than 64 MB|more than 20 ms/);
    expect(text).toBe('[{"n":1}]');
    expect(await chain.push('[{"n":7}]')).toBe('[{"n":7}]');
    chain.close();
  });
});

describe("an overrun", () => {
  // A machine that gives the code little time meets the limit of time first.
  it("of memory names the culprit and spares other owners' calls that are running", busy, async () => {
    const waiting = run("export const f = () => new Promise((go) => setTimeout(go, 400, 'done'))", neighbour);
    await expect(
      run(`export function f() { ${memory["keeps lists"]?.body} }`, { id: "hog" }),
    ).rejects.toMatchObject({
      kind: "memory",
    });
    expect(await waiting).toBe("done");
    expect(bench.lines.join("")).toContain('"function":"hog"');
  });

  it("of time leaves other calls of the same owner running", async () => {
    const waiting = run("export const f = () => new Promise((go) => setTimeout(go, 1500, 'done'))", {
      id: "patient",
    });
    await expect(run("export function f() { for (;;); }", { id: "loop" })).rejects.toMatchObject({
      kind: "timeout",
    });
    expect(await waiting).toBe("done");
  });

  it("that comes three times a minute is told, once", async () => {
    const told: string[] = [];
    sandbox.onRepeatedOverrun((id, reason) => void told.push(`${id}: ${reason}`));
    for (let at = 0; at < 4; at++) {
      await run("export const f = () => new Promise(() => {})", { id: "again", deadlineMs: 20 }).catch(
        () => {},
      );
    }
    expect(told.filter((line) => line.startsWith("again"))).toEqual([
      "again: The code did not answer within 0.02 s.",
    ]);
  });

  it("is not counted while the host has not answered", async () => {
    const told: string[] = [];
    sandbox.onRepeatedOverrun((id) => void told.push(id));
    const host = { slow: () => new Promise<undefined>(() => {}) };
    for (let at = 0; at < 4; at++) {
      const call = run("export const f = (_, { host }) => host.slow()", {
        id: "asks",
        args: [0, {}],
        host,
        deadlineMs: 20,
      });
      await expect(call).rejects.toMatchObject({ kind: "timeout" });
    }
    expect(told).not.toContain("asks");
  });
});

it("drops idle isolates beyond the budget, and keeps those that are used", async () => {
  const small = openBench(4);
  for (let at = 0; at < 8; at++) {
    expect(await small.run("export const f = () => 1", { owner: `owner ${at}` })).toBe(1);
  }
  await small.sandbox.settle();
  expect(small.sandbox.isolates()).toBeLessThan(4);
  expect(await small.run("export const f = () => 1", { owner: "owner 0" })).toBe(1);
  await small.sandbox.close();
});
