import { afterAll, describe, expect, it } from "vitest";
import { openBench, widenLimits } from "#plugins/sandbox/testing.ts";

// Promise S67: user code reaches nothing of the host. Each attempt answers the objects it reached; none is right.
const { sandbox, run, stream } = openBench();
afterAll(() => sandbox.close());

/** Searches everything reachable from a value for objects of Node or of the bridge. */
const search = `
const wanted = ["process", "require", "Buffer", "module", "__dirname", "fetch", "WebSocket", "SharedArrayBuffer",
  "WebAssembly", "Atomics", "setImmediate", "performance", "navigator", "$0", "$1"];
function look(scope) { return wanted.filter((name) => { try { return scope[name] !== undefined } catch { return false } }); }
const self = globalThis;
function climb(value, found = new Set(), depth = 0) {
  if ((typeof value !== "object" && typeof value !== "function") || value === null || found.has(value) || depth > 6) return found;
  found.add(value);
  for (const key of Reflect.ownKeys(value)) {
    try { const d = Object.getOwnPropertyDescriptor(value, key); for (const v of [d.value, d.get, d.set]) climb(v, found, depth + 1) } catch {}
  }
  climb(Object.getPrototypeOf(value), found, depth + 1);
  return found;
}
function foreign(...values) {
  const all = new Set(); for (const value of values) climb(value, all);
  return [...all].filter((value) => typeof value === "function" && !(value instanceof self.Function) && value !== self.Function.prototype).map(String);
}
`;

const attempts: Record<string, string> = {
  globals: "return look(self)",
  "the function constructor": "return look(f.constructor.constructor('return this')())",
  "the constructor of the arguments": "return look(args.constructor.constructor('return this')())",
  "the constructor of the context": "return look(ctx.constructor.constructor('return this')())",
  "the constructor of a host function": "return look(host.echo.constructor('return this')())",
  "the constructor of a host answer":
    "return look((await host.echo({ a: [] })).constructor.constructor('return this')())",
  "the constructor of a host promise": "return look(host.echo(1).constructor.constructor('return this')())",
  "the constructor of a host error":
    "return look(await host.refuse().catch((e) => e.constructor.constructor('return this')()))",
  "async functions": "return look(await (async () => {}).constructor('return this')())",
  "generator functions": "return look((function* () {}).constructor('yield this')().next().value ?? {})",
  "indirect eval": "return look((0, eval)('this'))",
  callers: "try { return look(arguments.callee.caller) } catch { return [] }",
  "function.caller":
    "const of = (g) => { try { return g.caller } catch { return undefined } }; return [of(f), of(look)].filter(Boolean).map(String)",
  "the host's own members": "return foreign(host, ctx, await host.echo({}))",
  "everything reachable": "return foreign(self, console, URL, crypto, setTimeout)",
  "texts of the border":
    "return [...climb(self)].filter((v) => typeof v === 'function').map(String).filter((t) => /isolated|ivm|send\\(/.test(t) && !/native code/.test(t) && /Callback/.test(t))",
  "call sites": `let seen = []; Error.prepareStackTrace = (_, sites) => {
      for (const site of sites) seen.push(site.getThis?.(), site.getFunction?.(), site.getEvalOrigin?.()); return "" };
    try { null.a } catch (e) { void e.stack } await host.refuse().catch((e) => e.stack);
    Error.prepareStackTrace = undefined; return foreign(...seen).concat(seen.filter((x) => x && x !== self && typeof x === "object").map(String))`,
  "an error's frames":
    'try { return [await host.refuse()] } catch (e) { return ["file:", "node:", ".ts", "/"].filter((part) => String(e.stack).includes(part)) }',
  "deep recursion into the bridge":
    "let got, left = 50; const dig = () => { try { dig() } catch (e) { got ??= e } if (left-- > 0) host.echo(1).catch(() => {}) }; try { dig() } catch (e) { got ??= e } return foreign(got).concat(look(got.constructor.constructor('return this')()))",
  "polluted prototypes": `const caught = []; const trap = function (...a) { caught.push(this, ...a); };
    for (const holder of [Object.prototype, Array.prototype, Function.prototype, Promise.prototype, String.prototype])
      for (const name of ["source", "items", "run", "value", "get", "toJSON2", "0", "resolve"])
        try { Object.defineProperty(holder, name, { configurable: true, get: trap, set: trap }) } catch {}
    try { await host.echo(1) } catch {}
    for (const holder of [Object.prototype, Array.prototype, Function.prototype, Promise.prototype, String.prototype])
      for (const name of ["source", "items", "run", "value", "get", "toJSON2", "0", "resolve"]) delete holder[name];
    return foreign(...caught)`,
  "polluted built-ins": `const keep = [JSON.parse, Promise.prototype.then, Reflect.apply, Array.prototype.join]; const caught = [];
    JSON.parse = JSON.stringify = Reflect.apply = (...a) => { caught.push(...a); return keep[0]("{}") };
    Promise.prototype.then = function (...a) { caught.push(...a); return keep[2] (keep[1], this, a) };
    Function.prototype.call = Function.prototype.apply = function (...a) { caught.push(this, ...a) };
    await 0; const x = host.echo(1); JSON.parse = keep[0]; Promise.prototype.then = keep[1]; Reflect.apply = keep[2];
    await x; return foreign(...caught)`,
  species: `class P extends Promise { static get [Symbol.species]() { return class { constructor(run) { run((...a) => got.push(...a), (...a) => got.push(...a)) } } } }
    const got = []; Object.defineProperty(Promise.prototype, "constructor", { value: P, configurable: true });
    await host.echo(1); Object.defineProperty(Promise.prototype, "constructor", { value: Promise, configurable: true }); return foreign(...got)`,
  "a proxy as an argument":
    "const got = []; await host.echo(new Proxy({}, { get: (...a) => (got.push(...a), undefined), ownKeys: (...a) => (got.push(...a), []) })).catch(() => {}); return foreign(...got)",
  "an iterator of the arguments":
    "const got = []; const it = Array.prototype[Symbol.iterator]; Array.prototype[Symbol.iterator] = function () { got.push(this); return it.call(this) }; await host.echo(1); console.log(1); Array.prototype[Symbol.iterator] = it; return foreign(...got)",
  import: "try { return [typeof (await import('node:fs'))] } catch { return [] }",
  "import of data":
    "try { return [typeof (await import('data:text/javascript,export default 1'))] } catch { return [] }",
  "import.meta": "return Object.keys(import.meta)",
  "a host function that is none":
    "return (await Promise.allSettled(['__proto__', 'constructor', 'toString', 'valueOf', 'hasOwnProperty'].map((n) => host[n]()))).filter((r) => r.status === 'fulfilled')",
  "changing the host":
    "try { host.echo = () => 'x' } catch {} try { Object.defineProperty(host, 'x', { value: 1 }) } catch {} return Object.keys(host).concat((await host.echo(5)) === 5 ? [] : ['changed'])",
  "the prototype by JSON":
    "const got = JSON.parse('{\"__proto__\": {\"polluted\": true}}'); return ({}).polluted ? ['polluted'] : []",
};

describe("user code that reaches for", () => {
  const host = {
    echo: async (...args: readonly unknown[]) => args[0] as never,
    refuse: () => Promise.reject(new Error("inner text of the host")),
  };
  const source = (body: string) =>
    `${search}\nexport async function f(args, ctx) { const { host } = ctx; ${body.replaceAll("arguments.callee", "f")} }`;

  it.each(Object.entries(attempts))("%s finds nothing", async (name, body) => {
    const found = await run(source(body), { id: `reach ${name}`, args: [{ a: 1 }, { user: "u" }], host });
    expect(found).toEqual([]);
  });

  it("the host through a stream hook finds nothing", async () => {
    const chain = await stream([
      `${search}\nexport function stream(c, ctx) { c.found = look(self).concat(foreign(c, ctx, ctx.host)); }`,
    ]);
    expect([JSON.parse(await chain.push("[{}]")), chain.failures]).toEqual([[{ found: [] }], []]);
    chain.close();
  });

  it.each([
    'c.constructor.constructor("return this")()',
    'new (c.constructor.constructor)("return this")()',
    'eval("this")',
    '(0, eval)("this")',
    '(async () => {}).constructor("return this")()',
    '(function* () {}).constructor("yield this")().next()',
    'Reflect.construct(Function, ["return this"])',
    'setTimeout.constructor("return this")()',
  ])("new code in a stream hook is refused: %s", async (code) => {
    const chain = await stream([`export function stream(c) { c.found = ${code}; }`]);
    expect(JSON.parse(await chain.push("[{}]"))).toEqual([{}]);
    expect(chain.failures).toEqual([expect.stringMatching(/^0: (?:eval|new Function) is not available/)]);
    chain.close();
  });
});

describe("what code hands over", () => {
  it("changes no prototype of the host, whatever it is copied into", async () => {
    const value = (await run(
      `export const f = () => JSON.parse('{"__proto__":{"polluted":1},"a":{"__proto__":{"b":1}}}')`,
    )) as object;
    expect(value).toEqual({ a: {} });
    expect(Object.hasOwn(value, "__proto__")).toBe(false);
    expect(Object.assign({}, value)).not.toHaveProperty("polluted");
    let asked: unknown;
    const host = { take: async (...args: readonly unknown[]) => void (asked = args[0]) };
    const body = `export const f = (_, { host }) => host.take(JSON.parse('{"__proto__":{"polluted":1}}'))`;
    await run(body, { args: [0, {}], host });
    expect(asked).toEqual({});
    expect(Object.hasOwn(asked as object, "__proto__")).toBe(false);
  });

  it("lies about its shape without harm", async () => {
    const source = `Array.prototype.toJSON = () => "list"; Object.prototype.toJSON = () => 5; export const a = [1]; export const f = () => 1;`;
    const shape = await sandbox.load({ owner: "ana", id: "liar", source });
    expect(shape).toMatchObject({ functions: [], tools: {} });
  });

  it("floods neither the log nor the timers of the host", async () => {
    const source = `export function f() { let refused = 0;
      for (let i = 0; i < 20000; i++) { console.log(i); try { clearTimeout(setTimeout(() => {}, 0)) } catch { refused++ } }
      return refused; }`;
    const setBack = widenLimits({ sliceMs: 20_000 });
    expect(await run(source, { id: "flood" }).finally(setBack)).toBeGreaterThan(15_000);
    expect(sandbox.logs("flood").length).toBeLessThanOrEqual(200);
  });

  it("does not run on after its call has ended", async () => {
    const source = `let ticks = 0; export const count = () => ticks;
      export function f(_, { host }) { setInterval(() => { ticks++; host.act(); }, 1); return 1; }`;
    let acts = 0;
    const host = { act: async () => void (acts += 1) };
    await run(source, { id: "after", args: [0, {}], host });
    const before = await run(source, { id: "after", name: "count" });
    await new Promise((go) => setTimeout(go, 100));
    expect(await run(source, { id: "after", name: "count" })).toBe(before);
    expect(acts).toBe(0);
  });
});
