import { afterAll, describe, expect, it } from "vitest";
import { openBench } from "../testing.ts";

const { run, sandbox, stream } = openBench();
afterAll(() => sandbox.close());

/** What guards stand before (inside/guards.js) does for honest code what it does everywhere. */
const expressions = [
  "'a-b-c'.split('-')",
  "'a1b22'.split(/\\d+/)",
  "'a1b'.split(/(\\d)/, 2)",
  "'aXbX'.replaceAll('X', 'y')",
  "'aXbX'.replaceAll(/x/gi, (all, at) => all + at)",
  "'abc'.replace('b', (x) => x + x)",
  "'a.b'.replace({ [Symbol.replace]: (text, to) => [text, to].join('|') }, 'z')",
  "'a.b'.split({ [Symbol.split]: (text, most) => [text, most] }, 3)",
  "'a1b2'.match(/\\d/g)",
  "[...'a1b2'.matchAll(/\\d/g)].map((found) => found.index)",
  "'abc'.search('c')",
  "'abc'.match({ toString: () => 'b' }).index",
  "['abc'.includes('b'), 'abc'.indexOf({ toString: () => 'c' }), 'abcabc'.lastIndexOf('c'), 'abc'.startsWith('a')]",
  "(() => { try { return 'abc'.includes(/b/) } catch (error) { return error.name } })()",
  "(() => { try { return 'abc'.replaceAll(/b/, '') } catch (error) { return error.name } })()",
  "['x'.padStart(3, '-'), 'x'.padEnd(2), 'ab'.repeat(2), ''.repeat(5), 'é'.normalize('NFD').length]",
  "(() => { try { return 'a'.repeat(-1) } catch (error) { return error.name } })()",
  "['b', 'a', 'ä'].sort((x, y) => x.localeCompare(y, 'de'))",
  "['b', 'a'].toSorted()",
  "[3, 1, 10].sort()",
  "[3, 1, 2].sort((a, b) => b - a)",
  "(() => { try { return [1].sort(7) } catch (error) { return error.name } })()",
  "[1, [2, [3]]].flat(Infinity).concat([4], 5, { length: 1, 0: 'x' }).length",
  "Array.prototype.map.call('abc', (letter) => letter + 1)",
  "Array.prototype.slice.call({ length: 2, 0: 'a', 1: 'b' })",
  "(function () { return Array.prototype.join.call(arguments, '+') })(1, 2)",
  "[...new Set([1, 2]).union(new Set([3]))]",
  "[...new Map(Object.entries({ a: 1 })).keys(), new Map(new Map([[1, 2]])).get(1)]",
  "Object.entries(Object.groupBy([1, 2, 3], (n) => (n % 2 ? 'odd' : 'even'))).length",
  "Object.assign({}, { a: 1 }, null, 'xy')",
  "Object.keys(new Proxy({ a: 1 }, {})).concat(Reflect.ownKeys(new Proxy({ b: 1 }, {})))",
  "JSON.stringify(new Proxy([1, 2], {}))",
  "JSON.stringify({ a: [undefined, 1] }, null, 1)",
  "JSON.parse('{\"a\":[1]}', (key, value) => (key === '0' ? 2 : value))",
  "[...new Uint8Array([3, 1, 2]).sort()].concat(new Float64Array(2).length, new Uint8Array(new ArrayBuffer(4)).length)",
  "new Uint8Array([1, 2]).join('+') + new Uint16Array([1]).subarray(0).length + Uint8Array.from([1]).at(0)",
  "[new Date(0).toISOString(), Date.parse('2020-01-01'), new Date(2020, 1).getFullYear(), typeof Date()]",
  "[new Date(0) instanceof Date, /a/ instanceof RegExp, new RegExp('a') instanceof RegExp, [] instanceof Array]",
  "[new RegExp(/a/g).flags, RegExp('b', 'i').test('B'), /(?<n>.)/.exec('x').groups.n]",
  "[(1234.5).toLocaleString('de'), new Intl.NumberFormat('en').format(1e6), new Intl.Collator('de').compare('a', 'b')]",
  "new Intl.DateTimeFormat('en', { timeZone: 'UTC' }).formatToParts(new Date(0)).length",
  "[parseInt('12px'), parseFloat('1.5'), parseInt({ toString: () => '7' }), encodeURIComponent('ä b')]",
  "class A extends Map { twice(key) { return this.get(key) * 2 } }, new (class B extends Array {})(1, 2).length",
  "Reflect.construct(Array, [1, 2]).concat(Reflect.apply(Math.max, null, [1, 3]), Math.min.apply(null, [4, 5]))",
  "String.raw`a\\n${1}`",
];

it.each(expressions)("%s", async (text) => {
  const expected: unknown = JSON.parse(
    // oxlint-disable-next-line typescript/no-implied-eval -- the same texts run in the sandbox
    JSON.stringify(new Function(`return (${text})`)() ?? null) ?? "null",
  );
  const source = `export function f() { return (${text}) ?? null; }
    export function stream(chunk) { chunk.found = (${text}) ?? null; }`;
  expect([await run(source, { id: "same" }), await run(source, { id: "same", isHook: true })]).toEqual([
    expected,
    expected,
  ]);
  const chain = await stream([source]);
  expect([JSON.parse(await chain.push("[{}]")), chain.failures]).toEqual([[{ found: expected }], []]);
  chain.close();
});

it("waits for promises of any iterable", async () => {
  const source = `export const f = async () => [
    await Promise.all([1, Promise.resolve(2)]), await Promise.all(new Set([3])),
    await Promise.any((function* () { yield Promise.reject(); yield 4; })()),
    (await Promise.allSettled([Promise.reject(5)]))[0].status, await Promise.race(["r"]),
    await Promise.all(7).catch((error) => error.name)]`;
  for (const isHook of [false, true]) {
    expect(await run(source, { id: "promises", isHook })).toEqual([
      [1, 2],
      [3],
      4,
      "rejected",
      "r",
      "TypeError",
    ]);
  }
});

describe("what a short call cannot have on the event loop it gets on a thread", () => {
  it.each([
    ["new Function('return 7')()", "7"],
    ["eval('1 + 1')", "2"],
    ["'a'.repeat(300000).replaceAll('a', 'b').length", "300000"],
    ["Array.from({ length: 100000 }, (_, n) => n).map((n) => n + 1).length", "100000"],
    ["new RegExp('a|'.repeat(1000) + 'b').test('b')", "true"],
  ])("%s", async (text, expected) => {
    expect(await run(`export const f = () => String(${text})`, { id: text, isHook: true })).toBe(expected);
  });
});

describe("large numbers, whose arithmetic nothing can stop,", () => {
  it.each(["const n = 10n;", "// 0x1fn", "const text = '7n';", `const r = /${"\\p{L}".repeat(300)}/u;`])(
    "are refused with their place, and so are patterns that take long to compile: %s",
    async (source) => {
      const loading = sandbox.load({ owner: "ana", id: "big", source: `\n${source} export const f = 1;\n` });
      await expect(loading).rejects.toMatchObject({ kind: "syntax", line: 2 });
    },
  );

  it.each([
    "BigInt(1)",
    "new BigInt64Array(1)",
    "new DataView(new ArrayBuffer(8)).getBigInt64(0)",
    "eval('1n')",
    "(0, eval)('0b1n')",
    "new Function('a = 1_0n', 'return a')()",
    "(async () => {}).constructor({ toString: () => 'return 3n' })()",
    "Reflect.construct(Function, ['return 1n'])()",
    "Function.apply(null, ['return 1n'])()",
  ])("cannot be made: %s", async (code) => {
    await expect(run(`export const f = () => ${code}`, { id: "made" })).rejects.toThrow(
      /not available|BigInt \(/,
    );
  });

  it("are told from names", async () => {
    const source =
      "const fn = 1, x1n = 2, $1n = 3; export const f = () => new Function('x1n', 'return x1n')(fn + x1n + $1n);";
    expect(await run(source, { id: "names" })).toBe(6);
  });
});

describe("an error that an author meets", () => {
  it("of a host function names the line that asked", async () => {
    const host = { look: () => Promise.reject(new Error("inner")) };
    const source = "export async function f(_, { host }) {\n  const a = 1;\n  await host.look(a);\n}";
    const failure = await run(source, { id: "line", args: [0, {}], host }).catch((error: unknown) => error);
    expect(failure).toMatchObject({ kind: "thrown", message: "The host failed.", line: 3 });
  });

  it.each([
    ["fetch('http://x.test')", /ask host\.fetch/],
    ["require('fs')", /no imports/],
    ["process.env", /reaches nothing/],
  ])("%s says what there is instead", async (code, message) => {
    await expect(run(`export const f = () => ${code}`, { id: "hint" })).rejects.toThrow(message);
  });

  it("says that exported data is too long for a record", async () => {
    const source = "export const meta = { description: 'x'.repeat(600000) }; export const f = () => 1;";
    await expect(sandbox.load({ owner: "ana", id: "long", source })).rejects.toMatchObject({
      kind: "value",
      message: "The data that the module exports is longer than 512 thousand characters.",
    });
  });
});
