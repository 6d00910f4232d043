import { setTimeout as delay } from "node:timers/promises";
import { afterAll, describe, expect, it } from "vitest";
import { AppError } from "#kernel/errors.ts";
import { openBench, toHost } from "./testing.ts";

const bench = openBench();
const { sandbox, run, stream } = bench;
afterAll(() => sandbox.close());

const script = (source: string, id = "shape") => ({ owner: "ana", id, source });
async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) {
    all.push(item);
  }
  return all;
}

describe("loading", () => {
  it("describes what a module exports", async () => {
    const shape = await sandbox.load(
      script(`/*\ntitle: Trim\n * version: 1.2\n*/
export const meta = { name: "Trim", priority: 3 };
export const toggle = true;
/** Trims. */
export function inlet(body) { return body; }
export const outlet = async (body) => body;
export const tools = { add: { description: "Adds", parameters: { type: "object" }, run: ({ a, b }) => a + b } };`),
    );
    expect(shape).toEqual({
      functions: ["inlet", "outlet"],
      data: { meta: { name: "Trim", priority: 3 }, toggle: true },
      tools: { add: { description: "Adds", parameters: { type: "object" } } },
      header: { title: "Trim", version: "1.2" },
      comments: { inlet: "/** Trims. */" },
    });
  });

  it.each([
    ["a syntax error", "const a = 1;\nconst b = ;", "syntax", 2],
    ["a syntax error in TypeScript", "const a: number = 1;\nconst b: string = ;", "syntax", 2],
    ["an import", "const a = 1;\n\nimport fs from 'node:fs';", "syntax", 3],
    ["a re-export", "\nexport * from 'node:fs';", "syntax", 2],
    ["an import() at the top", "\n\nawait import('node:fs');", "thrown", 3],
    ["an error at the top", "let a;\na.b.c;", "thrown", 2],
    ["an await that never ends", "export const a = await new Promise(() => {});", "timeout", undefined],
    ["a loop at the top", "for (;;);", "timeout", undefined],
    ["a source without end", " ".repeat(600_000), "syntax", undefined],
    ["nesting that breaks a compiler", `let a: number = ${"[".repeat(2e5)}`, "syntax", undefined],
  ])("refuses %s with its place", async (_name, source, kind, line) => {
    await expect(sandbox.load(script(source))).rejects.toMatchObject({ name: "SandboxError", kind, line });
  });

  it("waits for a top-level await that ends", async () => {
    expect((await sandbox.load(script("export const a = await Promise.resolve(5);"))).data).toEqual({ a: 5 });
  });

  it("takes types away, and transforms what is more than a type, with the author's own positions", async () => {
    expect(await run("export const f = (a: number): string => String(a) as string;", { args: [1] })).toBe(
      "1",
    );
    const source =
      "enum Kind { x, y }\nclass A { constructor(private a: number) {} }\nexport function f(): number {\n  return (null as any).b;\n}";
    await expect(run(source)).rejects.toMatchObject({ kind: "thrown", line: 4 });
  });
});

describe("calling", () => {
  it("hands JSON to and fro, and names where an error happened", async () => {
    expect(
      await run("export const f = (a, b) => ({ sum: a + b, at: new Date(0) })", { args: [1, 2] }),
    ).toEqual({
      sum: 3,
      at: "1970-01-01T00:00:00.000Z",
    });
    expect(await run("export function f() {}")).toBeUndefined();
    await expect(run("export function f(a) {\n  return a.b.c;\n}", { args: [{}] })).rejects.toMatchObject({
      kind: "thrown",
      message: "Cannot read properties of undefined (reading 'c')",
      line: 2,
      column: 14,
    });
    await expect(run("export const a = 1", { name: "f" })).rejects.toMatchObject({ kind: "missing" });
  });

  it("finds tools and the members of a default export", async () => {
    const source =
      "export const tools = { add: { run: ({ a }, ctx) => a + ctx.n } }; export default { pipe: () => 'p' };";
    expect(await run(source, { name: "tools.add", args: [{ a: 1 }, { n: 2 }] })).toBe(3);
    expect(await run(source, { name: "pipe" })).toBe("p");
    expect((await sandbox.load(script(source))).functions).toEqual(["pipe"]);
  });

  it("offers host functions that answer, fail with a text, or are not there", async () => {
    const host = {
      add: async (...args: readonly unknown[]) => Number(args[0]) + 1,
      refuse: () => Promise.reject(new AppError("forbidden", "You may not.")),
      break: () => Promise.reject(new Error("password of the database")),
    };
    const source = `export async function f(name, { host }) {
      try { return await host[name](1); } catch (error) { return error.message; } }`;
    const ask = (name: string) => run(source, { args: [name, {}], host });
    expect(await ask("add")).toBe(2);
    expect(await ask("refuse")).toBe("You may not.");
    expect(await ask("break")).toBe("The host failed.");
    expect(await ask("fetch")).toBe("host.fetch is not available here.");
    expect(await ask("constructor")).toBe("host.constructor is not available here.");
  });

  it("keeps calls apart that run at the same time, and ends their hosts with them", async () => {
    const source = `let kept;
      export async function f(n, { host, user }) { kept ??= host; await new Promise((go) => setTimeout(go, 20 * n));
        return [user, await host.whoami()]; }
      export async function late(_, ctx) { return kept.whoami().catch((error) => error.message); }`;
    const call = (n: number, user: string) =>
      run(source, { args: [n, { user }], host: { whoami: async () => user }, id: "shared" });
    expect(await Promise.all([call(3, "a"), call(1, "b"), call(2, "c")])).toEqual([
      ["a", "a"],
      ["b", "b"],
      ["c", "c"],
    ]);
    expect(
      await run(source, { name: "late", args: [0, {}], host: { whoami: async () => "z" }, id: "shared" }),
    ).toBe("host.whoami was called after the call had ended.");
  });

  it("gives authors what they expect", async () => {
    const source = `export async function f() {
      const url = new URL("../b?x=1#h", "https://e.com/a/c/");
      url.searchParams.append("y", "ä");
      const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode("abc")));
      return [url.href, url.host, btoa("hi"), atob("aGk="), new TextDecoder().decode(new TextEncoder().encode("ä€😀")),
        crypto.randomUUID().length, digest[0], structuredClone({ a: [1] }), typeof queueMicrotask, [...url.searchParams]]; }`;
    expect(await run(source)).toEqual([
      "https://e.com/a/b?x=1&y=%C3%A4#h",
      "e.com",
      "aGk=",
      "hi",
      "ä€😀",
      36,
      0xba,
      { a: [1] },
      "function",
      [
        ["x", "1"],
        ["y", "ä"],
      ],
    ]);
  });

  it("keeps what code writes, within bounds", async () => {
    await run(
      `export function f(_, { host }) { console.log("a", { b: 1 }); console.error(new Error("boom")); host.log("warn", "w"); }`,
      { args: [0, {}], id: "writes" },
    );
    await expect.poll(() => sandbox.logs("writes").length).toBe(3);
    expect(sandbox.logs("writes")).toMatchObject([
      { level: "info", text: 'a {"b":1}' },
      { level: "error", text: expect.stringMatching(/^Error: boom\n {4}at f \(source:1:\d+\)$/) as string },
      { level: "warn", text: "w" },
    ]);
    await run("export function f() { for (let i = 0; i < 1e5; i++) console.log('x'.repeat(5000)); }", {
      id: "writes",
    });
    await delay(50);
    const kept = sandbox.logs("writes");
    expect(kept.length).toBeLessThanOrEqual(200);
    expect(kept.reduce((sum, { text }) => sum + text.length, 0)).toBeLessThanOrEqual(65_536);
  });

  it("stops when its signal aborts", async () => {
    const stop = new AbortController();
    const call = run("export const f = () => new Promise(() => {})", { signal: stop.signal });
    setTimeout(() => stop.abort(new Error("stopped")), 30);
    await expect(call).rejects.toThrow("stopped");
  });

  it("runs the new source after a change", async () => {
    expect(await run("export const f = () => 1", { id: "changing" })).toBe(1);
    expect(await run("export const f = () => 2", { id: "changing" })).toBe(2);
  });
});

describe("iterating", () => {
  const iterate = (source: string, more: object = {}) =>
    sandbox.iterate(script(source, "pipe"), { name: "f", args: [], host: toHost({}), ...more });

  it.each([
    [
      "a generator",
      "export function* f() { for (let i = 0; i < 100; i++) yield i; }",
      Array.from({ length: 100 }, (_, i) => i),
    ],
    [
      "an async generator",
      "export async function* f() { yield 'a'; await null; yield { b: 1 }; }",
      ["a", { b: 1 }],
    ],
    [
      "timers between items",
      "export async function* f() { for (const i of [1, 2, 3]) { yield i; await new Promise((go) => setTimeout(go, 10)); } }",
      [1, 2, 3],
    ],
    ["a text", "export const f = () => 'text'", ["text"]],
    ["a list, which is one answer", "export const f = async () => [1, 2]", [[1, 2]]],
    ["nothing", "export const f = () => {}", []],
  ])("yields the items of %s", async (_name, source, items) => {
    expect(await collect(iterate(source))).toEqual(items);
  });

  it("yields what came before an error", async () => {
    const seen: unknown[] = [];
    const failing = (async () => {
      for await (const item of iterate(
        "export function* f() { yield 1; yield 2;\n throw new Error('no more'); }",
      )) {
        seen.push(item);
      }
    })();
    await expect(failing).rejects.toMatchObject({ kind: "thrown", message: "no more", line: 2 });
    expect(seen).toEqual([1, 2]);
  });

  it("runs no further than what was taken, and stops the generator when its reader leaves", async () => {
    const source = `export async function* f(_, { host }) {
      try { for (let i = 0; ; i++) { console.log(i); yield i; } } finally { console.log("over"); } }`;
    for await (const item of iterate(source, { args: [0, {}] })) {
      if (item === 2) {
        break;
      }
    }
    await expect.poll(() => sandbox.logs("pipe").at(-1)?.text).toBe("over");
    expect(sandbox.logs("pipe").filter(({ text }) => text !== "over").length).toBeLessThan(10);
  });

  it("ends a generator that stays silent, counting only the time in which it was asked", async () => {
    const source = "export async function* f() { yield 1; yield 2; await new Promise(() => {}); }";
    const seen: unknown[] = [];
    const reading = (async () => {
      for await (const item of iterate(source, { deadlineMs: 100 })) {
        seen.push(item);
        await delay(150);
      }
    })();
    await expect(reading).rejects.toMatchObject({ kind: "timeout" });
    expect(seen).toEqual([1, 2]);
  });
});

describe("stream hooks", () => {
  it("run in order over a batch, in one crossing, and see the run's context", async () => {
    const chain = await stream(
      [
        "export function stream(c, { user }) { return { ...c, user } }",
        "export function stream(c) { return c.n === 2 ? null : undefined }",
        "export function stream(c) { c.n *= 10 }",
      ],
      { user: "u" },
    );
    expect(JSON.parse(await chain.push('[{"n":1},{"n":2},{"n":3}]'))).toEqual([
      { n: 10, user: "u" },
      { n: 30, user: "u" },
    ]);
    chain.close();
    expect(chain.failures).toEqual([]);
  });

  it.each([
    ["throws", "c.n = 9; throw new Error('no');"],
    ["loops", "c.n = 9; for (;;);"],
    ["is async", "c.n = 9; return Promise.resolve(c);"],
    ["returns a text", "c.n = 9; return 'text';"],
    ["makes a cycle", "c.n = 9; c.c = c;"],
    ["asks for a BigInt", "c.n = BigInt(9);"],
    ["has a toJSON that throws", "c.toJSON = () => { throw 1 };"],
  ])("that %s is left out, and the last good value kept", async (_name, body) => {
    const add = "export function stream(c) { c.n += 1 }";
    const chain = await stream([add, `export function stream(c) { if (c.n > 1) { ${body} } }`, add]);
    expect(await chain.push('[{"n":0}]')).toBe('[{"n":2}]');
    expect(await chain.push('[{"n":0},{"n":1}]')).toBe('[{"n":2},{"n":3}]');
    expect(await chain.push('[{"n":5}]')).toBe('[{"n":7}]');
    expect(chain.failures).toEqual([expect.stringMatching(/^1: /)]);
    chain.close();
  });

  it("that does not load is left out of the chain", async () => {
    const chain = await stream([
      "export const stream = ;",
      "export function stream(c) { c.n = 1 }",
      "export const a = 1",
    ]);
    expect(await chain.push("[{}]")).toBe('[{"n":1}]');
    expect(chain.failures.toSorted()).toEqual([expect.stringMatching(/^0: /), expect.stringMatching(/^2: /)]);
    chain.close();
  });
});
