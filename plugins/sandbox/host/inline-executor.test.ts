import { afterAll, describe, expect, it } from "vitest";
import { limits } from "../limits.ts";
import { openBench, watchLoop } from "../testing.ts";

// Calls of hooks are tried on the event loop's own thread. Whether they ran there shows in the variables of the module:
// a call that is no hook runs in another isolate and does not see them.
const bench = openBench();
const { run, sandbox } = bench;
afterAll(() => sandbox.close());

const counted = "let n = 0; export const count = () => ++n;";
let serial = 0;

/** A script of its own for each test: what was learned about one must not trouble the next. */
function scriptOf(source: string) {
  const id = `quick${serial++}`;
  const call = (name: string, isHook: boolean, more: object = {}) =>
    run(`${counted} ${source}`, { id, name, isHook, ...more });
  return {
    id,
    hook: (name: string, more?: object) => call(name, true, more),
    plain: (name: string, more?: object) => call(name, false, more),
  };
}

describe("a short call of a hook", () => {
  it("runs beside the calls on threads and keeps its variables", async () => {
    const { hook, plain } = scriptOf("");
    expect([await hook("count"), await hook("count"), await plain("count")]).toEqual([1, 2, 1]);
  });

  it("answers what the code answers, be it async or not", async () => {
    const { hook } = scriptOf(
      "export const now = (body, { id }) => ({ ...body, id }); export const later = async (body) => { await null; return body; };" +
        "export const nothing = () => {}; export const text = () => 'a\\nb c';",
    );
    const args = [{ a: "x\ny" }, { id: "i" }];
    expect(await hook("now", { args })).toEqual({ a: "x\ny", id: "i" });
    expect(await hook("later", { args })).toEqual({ a: "x\ny" });
    expect(await hook("nothing")).toBeUndefined();
    expect(await hook("text")).toBe("a\nb c");
    expect(await hook("count")).toBe(1);
  });

  it.each([true, false])(
    "says nothing where nobody reads what it answers (as a hook: %s)",
    async (isHook) => {
      const { hook, plain } = scriptOf(
        "export const f = () => ({ a: 1 }); export const broken = () => () => 1;",
      );
      const call = isHook ? hook : plain;
      expect([await call("f", { discardResult: true }), await call("f")]).toEqual([undefined, { a: 1 }]);
      expect(await call("broken", { discardResult: true })).toBeUndefined();
      await expect(call("broken")).rejects.toMatchObject({ kind: "value" });
    },
  );

  it("gets its own answer among others", async () => {
    const { hook } = scriptOf(
      "export const same = async (n) => { if (n % 3) await null; if (n % 5 === 4) throw new Error(`no ${n}`); return n; };",
    );
    const all = Array.from({ length: 50 }, (_, n) => n);
    const answers = await Promise.all(
      all.map((n) => hook("same", { args: [n] }).catch((error: Error) => error.message)),
    );
    expect(answers).toEqual(all.map((n) => (n % 5 === 4 ? `no ${n}` : n)));
  });

  it("fails with the place in the source", async () => {
    const { hook } = scriptOf("\nexport function f() { throw new Error('mine'); }");
    await expect(hook("f")).rejects.toMatchObject({ kind: "thrown", message: "mine", line: 2 });
    await expect(hook("none")).rejects.toMatchObject({ kind: "missing" });
    expect(await hook("count")).toBe(1);
  });

  it("keeps what it writes", async () => {
    const { hook, id } = scriptOf("export function f() { console.log('once'); }");
    await hook("f");
    expect(sandbox.logs(id).map(({ text }) => text)).toEqual(["once"]);
  });

  it("is not begun for a caller who has gone", async () => {
    const { hook } = scriptOf("");
    const signal = AbortSignal.abort(new Error("gone"));
    await expect(hook("count", { signal })).rejects.toThrow("gone");
    expect(await hook("count")).toBe(1);
  });
});

describe("a call of a hook that is not short", () => {
  const host = { twice: async (n: unknown) => Number(n) * 2 };

  it("asks its host functions once, and writes its lines once", async () => {
    const asked: unknown[] = [];
    const counting = { twice: async (n: unknown) => (asked.push(n), Number(n) * 2) };
    const { hook, id } = scriptOf(
      "let isBusy; export async function f(n, { host }) { if (isBusy) return 'busy'; isBusy = true; console.log('asks');" +
        "const answer = await host.twice(n); isBusy = false; return answer; }",
    );
    expect(await hook("f", { args: [4, {}], host: counting })).toBe(8);
    expect(await hook("f", { args: [5, {}], host: counting })).toBe(10);
    expect(asked).toEqual([4, 5]);
    expect(sandbox.logs(id).map(({ text }) => text)).toEqual(["asks", "asks"]);
  });

  it("tells the host what it does not wait for", async () => {
    const told: unknown[] = [];
    const { hook } = scriptOf("export function f(_, { host }) { host.tell('on the way'); return 'done'; }");
    const tell = async (text: unknown) => void told.push(text);
    expect(await hook("f", { args: [0, {}], host: { tell } })).toBe("done");
    await expect.poll(() => told).toEqual(["on the way"]);
  });

  it("waits for its timers", async () => {
    const { hook } = scriptOf("export const f = () => new Promise((go) => setTimeout(go, 30, 'later'));");
    expect(await hook("f")).toBe("later");
  });

  it("has the whole time on a thread, and is left there, its neighbours too", async () => {
    const { hook, plain } = scriptOf(
      "const mark = Math.random(); export const place = () => mark;" +
        "export function f(ms) { const until = Date.now() + ms; while (Date.now() < until); return ms; }",
    );
    const round = async () =>
      expect(await Promise.all([hook("f", { args: [80] }), hook("f", { args: [0] })])).toEqual([80, 0]);
    // Two overruns are enough where the machine is idle; where others took the time, nothing is learned from one.
    const isOnThread = async () => {
      await round();
      return (await hook("place")) === (await plain("place"));
    };
    await expect.poll(isOnThread, { timeout: 60_000 }).toBe(true);
    // From now on no round holds up the loop.
    const loop = watchLoop();
    await round();
    expect(loop.stop().at(-1) ?? 0).toBeLessThan(limits.inlineMs);
    expect(await hook("count")).toBe(1);
    expect(await plain("count")).toBe(2);
  });

  it("takes long arguments along", async () => {
    const { hook } = scriptOf("export const f = (text) => text.length;");
    expect(await hook("f", { args: ["x".repeat(limits.inlineLength)] })).toBe(limits.inlineLength);
  });

  it("has its host on the short way as well", async () => {
    const { hook } = scriptOf("export const f = (_, { host }) => ['twice' in host, 'other' in host];");
    expect(await hook("f", { args: [0, {}], host })).toEqual([true, false]);
  });
});
