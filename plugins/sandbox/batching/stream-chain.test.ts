import { runInNewContext } from "node:vm";
import { afterAll, describe, expect, it } from "vitest";
import { openBench } from "../testing.ts";

const { sandbox, stream } = openBench();
afterAll(() => sandbox.close());

const odd = [
  "",
  "plain",
  "a longer piece of text",
  'q"',
  "\\",
  "\n\t\u0001",
  'a"},"x":"b',
  "ü😀",
  "\ud83d",
  "[]",
];
const around = { id: "c1", object: "chunk", created: 1, model: "m", usage: null };
const toChunk = (content: unknown, more: object = {}) => ({
  ...around,
  choices: [{ index: 0, delta: { content }, finish_reason: null, ...more }],
});

/** The batches as plain parsing and writing of every chunk leaves them, in a context of its own. */
function byTheBook(source: string, batches: readonly string[]): string[] {
  const pass = runInNewContext(`${source};
    const { parse, stringify } = JSON;
    (texts) => texts.map((text) => {
      const chunk = parse(text);
      const made = stream(chunk, {});
      return made === null ? undefined : stringify(made === undefined ? chunk : made);
    });`) as (texts: string[]) => (string | undefined)[];
  return batches.map((batch) => {
    const texts = (JSON.parse(batch) as unknown[]).map((chunk) => JSON.stringify(chunk));
    return `[${pass(texts)
      .filter((text) => text !== undefined)
      .join(",")}]`;
  });
}

async function bySandbox(source: string, batches: readonly string[]) {
  const chain = await stream([`export ${source}`]);
  const answers: string[] = [];
  for (const batch of batches) {
    answers.push(await chain.push(batch));
  }
  chain.close();
  return { answers, failures: chain.failures };
}

const batches = [
  [toChunk("first")],
  ...odd.map((content) => [toChunk(content)]),
  [toChunk("with a role", { delta: { role: "assistant", content: "x" } })],
  [toChunk("two"), toChunk("of them")],
  [toChunk(null)],
  [toChunk("last", { finish_reason: "stop" })],
  [{ ...toChunk("another id"), id: "c2" }],
  [toChunk("as before")],
  [toChunk("as before")],
].map((batch) => JSON.stringify(batch));

const hooks = {
  "changes the text": `delta.content = String(delta.content).toUpperCase();`,
  "makes a chunk of its own": `return { ...chunk, choices: [{ ...choice, delta: { content: delta.content + "!" } }] };`,
  "drops chunks": `return delta.content === "plain" ? null : chunk;`,
  "adds fields": `chunk.more = 1; choice.more = { a: 1 }; delta.more = [delta.content];`,
  "removes fields": `delete chunk.created; delete choice.index;`,
  "removes the text": `delete delta.content;`,
  "moves a field to the end": `const { id } = chunk; delete chunk.id; chunk.id = id;`,
  "changes a field": `choice.finish_reason = "length"; chunk.created += 1;`,
  "makes a field an object": `chunk.created = new Number(5); choice.index = [];`,
  "makes the text another type": `delta.content = delta.content === "plain" ? 7 : new String("x");`,
  "adds a choice": `chunk.choices.push({ index: 1, delta: { content: "y" } });`,
  "makes the choices something else": `chunk.choices = { 0: choice, length: 1 };`,
  "has a getter for the text": `Object.defineProperty(delta, "content", { get: () => "got", enumerable: true });`,
  "hides the text": `Object.defineProperty(delta, "content", { enumerable: false });`,
  "hides a field": `Object.defineProperty(chunk, "id", { enumerable: false });`,
  "hides a field and adds one": `Object.defineProperty(chunk, "id", { enumerable: false }); chunk.ix = "c1";`,
  "inherits fields": `return Object.create(chunk);`,
  "says what it is": `chunk.toJSON = () => ({ made: delta.content });`,
  "says so in secret": `Object.defineProperty(choice, "toJSON", { value: () => ({ made: 1 }) });`,
  "says so for the list": `chunk.choices.toJSON = () => ["made"];`,
  "says so for the delta": `Object.setPrototypeOf(delta, { toJSON: () => "made" });`,
  "stands behind a proxy": `return new Proxy(chunk, { get: (on, key) => (key === "id" ? "p" : on[key]) });`,
  "freezes the chunk": `return Object.freeze(chunk);`,
  "keeps what it was given": `seen.push(chunk); if (seen.length > 1) delete seen[seen.length - 2].choices[0].index;`,
};

describe("a stream hook", () => {
  it.each(Object.entries(hooks))("%s", async (_, body) => {
    const source = `function stream(chunk) {
      const seen = (globalThis.seen ??= []);
      const [choice] = chunk.choices; const { delta } = choice; ${body} return chunk; }`;
    const { answers, failures } = await bySandbox(source, batches);
    expect(failures).toEqual([]);
    expect(answers).toEqual(byTheBook(source, batches));
  });

  it.each([
    `Array.prototype.toJSON = function () { return "list"; };`,
    `Object.prototype.more = "inherited";`,
    `Object.defineProperty(Object.prototype, "choices", { get() { throw new Error("no"); } });`,
    `Object.defineProperty(Object.prototype, "delta", { set() { throw new Error("no"); }, configurable: true });`,
  ])("that has changed all objects: %s", async (change) => {
    const source = `function stream(chunk) {
      const at = (globalThis.at = (globalThis.at ?? 0) + 1);
      chunk.id = chunk.id + ""; if (at === 3) { ${change} } return chunk; }`;
    const { answers } = await bySandbox(source, batches.slice(0, 6));
    expect(answers).toEqual(byTheBook(source, batches.slice(0, 6)));
  });

  it("that makes texts of all objects is left out", async () => {
    const source = `function stream(chunk) { Object.prototype.toJSON = () => "all"; }`;
    expect(await bySandbox(source, batches.slice(0, 2))).toEqual({
      answers: batches.slice(0, 2),
      failures: ["0: A stream hook returns a chunk, null or nothing, and is not async."],
    });
  });

  it("and the next one get each other's chunks", async () => {
    const add = (mark: string) =>
      `export function stream(chunk) { chunk.choices[0].delta.content += "${mark}"; chunk.ids = undefined; }`;
    const chain = await stream([
      add("a"),
      `export function stream(chunk) { if (chunk.choices[0].delta.content.includes("fail")) throw new Error("b"); chunk.id += "b"; }`,
      add("c"),
    ]);
    const push = async (content: string) => JSON.parse(await chain.push(JSON.stringify([toChunk(content)])));
    expect(await push("1")).toEqual([{ ...toChunk("1ac"), id: "c1b" }]);
    expect(await push("2")).toEqual([{ ...toChunk("2ac"), id: "c1b" }]);
    // The failed one keeps the last good value.
    expect(await push("fail")).toEqual([toChunk("failac")]);
    expect(await push("3")).toEqual([toChunk("3ac")]);
    expect(chain.failures).toEqual(["1: b"]);
    chain.close();
  });
});
