import type { SandboxError } from "#kernel/sandbox.ts";

/** The body of a function that does harm, and how the sandbox tells of it. */
export interface Bad {
  /** One of them, where it depends on the machine which limit is met first. */
  readonly kind: SandboxError["kind"] | readonly SandboxError["kind"][];
  readonly body: string;
}

export const loops: Record<string, Bad> = {
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

export const memory: Record<string, Bad> = {
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

export const values: Record<string, Bad> = {
  "throws a text": { kind: "thrown", body: "throw 'text';" },
  "throws null": { kind: "thrown", body: "throw null;" },
  "throws what cannot be shown": { kind: "thrown", body: "throw { get message() { throw 1; } };" },
  "rejects with a proxy": {
    kind: "thrown",
    body: "return Promise.reject(new Proxy({}, { has() { throw 1; }, get() { throw 1; } }));",
  },
  "answers a cycle": { kind: "value", body: "const a = {}; a.a = a; return a;" },
  "answers a BigInt": { kind: "thrown", body: "return { n: BigInt(1) };" },
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

/** Built-ins that nothing breaks off once they run: what they are given is bounded, or they run on a thread only. */
export const builtIns: Record<string, Bad> = {
  "writes a giant number": { kind: "syntax", body: "return (1n << (2n ** 28n)).toString().length;" },
  "divides giant numbers": {
    kind: "syntax",
    body: "return (1n << 200000000n) / ((1n << 99999999n) + 5n) > 1n;",
  },
  "compares a number with a text": {
    kind: "syntax",
    body: "return 1n == '9'.repeat(1.6e7);",
  },
  "makes numbers of new code": {
    kind: "thrown",
    body: "return new Function(['let a = 3', ' ** 100000', '; for (;;) a *= a;'].join('n'))();",
  },
  "searches a text for a text": {
    kind: "thrown",
    body: "return 'a'.repeat(8e6).lastIndexOf('a'.repeat(4e6) + 'b');",
  },
  "searches with a text in disguise": {
    kind: "thrown",
    body: "return 'a'.repeat(4e6).includes({ toString: () => 'a'.repeat(1e6) + 'b' + 'a'.repeat(1e6) });",
  },
  "puts marks in order": {
    kind: "thrown",
    body: "return ('a' + '\u0316\u0301'.repeat(4e5)).normalize('NFC').length;",
  },
  "sorts without a way to compare": {
    kind: ["thrown", "timeout"],
    body: "return Array.from({ length: 1e6 }, (_, i) => (i * 7919) % 1000003).sort()[0];",
  },
  "sorts a buffer again and again": {
    kind: ["thrown", "timeout"],
    body: "const a = new Float64Array(4e6).map((_, i) => -i); for (;;) a.sort();",
  },
  "fills a buffer again and again": {
    kind: ["thrown", "timeout"],
    body: "const a = new Uint8Array(6e7); for (;;) a.fill(1);",
  },
  "makes formats without end": {
    kind: "timeout",
    body: "for (;;) Array(20000).fill('en').map(Intl.DateTimeFormat);",
  },
  "compiles a giant pattern": {
    kind: ["thrown", "timeout"],
    body: "return new RegExp('[\\p{L}\\p{N}a-z]'.repeat(3000), 'iu').test('a');",
  },
  "lies about a length": {
    kind: "thrown",
    body: "let n = 0; return Array.prototype.indexOf.call({ get length() { return n++ ? 2 ** 53 - 1 : 1; } }, 7);",
  },
  "lies about a length with a proxy": {
    kind: "thrown",
    body: "let n = 0; return Array.prototype.indexOf.call(new Proxy({}, { get: () => (n++ ? 2 ** 53 - 1 : 1), has: () => false }), 7);",
  },
  "lies about a length behind a polluted prototype": {
    kind: "thrown",
    body: "Object.prototype.value = 5; let n = 0; return Array.prototype.indexOf.call({ get length() { return n++ ? 2 ** 53 - 1 : 1; } }, 7);",
  },
  "hides a text behind a changed iterator": {
    kind: "thrown",
    body: "Array.prototype[Symbol.iterator] = function* () { yield 'a'; }; return 'a'.repeat(8e6).lastIndexOf('a'.repeat(4e6) + 'b');",
  },
  "joins what pretends to be long": {
    kind: "thrown",
    body: "return [].concat({ length: 4e9, [Symbol.isConcatSpreadable]: true }).length;",
  },
  "waits for promises without end": {
    kind: ["thrown", "memory"],
    body: "const next = Object.bind(null, { done: false, value: 1 }); return Promise.all({ [Symbol.iterator]: () => ({ next }) });",
  },
  "runs on when its garbage is collected": {
    kind: "thrown",
    body: "new FinalizationRegistry(() => { for (;;); }).register({}, 1);",
  },
  "asks the host for digests without end": {
    kind: "timeout",
    body: "const d = new Uint8Array(6e5); for (;;) crypto.subtle.digest('SHA-512', d);",
  },
  "asks the host for addresses without end": {
    kind: "thrown",
    body: "for (;;) new URL('http://a.example/c');",
  },
  "hands over millions of values": { kind: "value", body: "return Array(4e6).fill(1);" },
  "hands over a prototype among many values": {
    kind: "value",
    body: "return { a: Array(6e5).fill(1), b: JSON.parse('{\"__proto__\":1}') };",
  },
};
