import { afterAll, describe, expect, it } from "vitest";
import { toArgumentsText, toShortArguments } from "./arguments.ts";
import { limits } from "./limits.ts";
import { openBench } from "./testing.ts";

// Long contents of messages cross by themselves. No code may see a difference.
const { run, sandbox } = openBench();
afterAll(() => sandbox.close());

const long = (text: string) => text.repeat(300);
const contents = [
  long("word "),
  long('"quoted" \\ back\n\t'),
  long("é \u{1f30a} \u2028"),
  long("\ud800"),
  "short",
  "",
  null,
  [{ type: "text", text: long("part ") }],
];
const messages = contents.map((content, at) => ({ role: "user", content, id: `m${at}` }));
const body = { model: "m", messages, chat_id: null };

describe("a hook", () => {
  it("gets messages as they are, fields in their order", async () => {
    const source = "export const f = (body) => [body, JSON.stringify(body)];";
    const call = () => run(source, { id: "same", args: [body, {}], isHook: true });
    expect(await call()).toEqual([body, JSON.stringify(body)]);
  });

  it("gets its own messages where many cross together", async () => {
    const source = "export const f = ({ messages }) => messages.map(({ content }) => content);";
    const numbers = Array.from({ length: 40 }, (_, at) => at);
    const of = (at: number) => ["first", long(`${at} `), "third", ...(at % 3 ? [long(`more ${at}`)] : [])];
    const answers = await Promise.all(
      numbers.map((at) => {
        const own = of(at).map((content) => ({ role: "user", content }));
        return run(source, { id: "own", args: [{ messages: own }, {}], isHook: true });
      }),
    );
    expect(answers).toEqual(numbers.map(of));
  });

  it("gets them when it has to begin afresh where there is more time", async () => {
    const source = "export const f = async ({ messages }, { host }) => [await host.echo(1), messages];";
    const options = { id: "afresh", args: [body, {}], host: { echo: async (value?: unknown) => value as 1 } };
    expect(await run(source, { ...options, isHook: true })).toEqual([1, messages]);
  });

  it("gets those that are too long to cross with others", async () => {
    const source = "export const f = ({ messages }) => messages[0].content.length;";
    const huge = { messages: [{ role: "user", content: "x".repeat(limits.quickLength) }] };
    expect(await run(source, { id: "huge", args: [huge, {}], isHook: true })).toBe(limits.quickLength);
  });

  it("gets them whatever other code has made of texts and lists", async () => {
    const source = `
      String.prototype.split = () => { throw new Error("no"); };
      Object.defineProperty(Object.prototype, "content", { set() { throw new Error("no"); }, configurable: true });
      Object.defineProperty(Array.prototype, Symbol.iterator, { value() { throw new Error("no"); } });
      export const f = ({ messages }) => messages[0].content;`;
    for (let count = 0; count < 2; count += 1) {
      expect(await run(source, { id: "changed", args: [body, {}], isHook: true })).toBe(contents[0]);
    }
  });
});

describe("arguments that cross with others", () => {
  it("have only what is long apart, and change nothing of what was given", () => {
    const before = structuredClone(body);
    const { text, places, contents: apart } = toShortArguments([body, { id: "f" }]);
    expect(body).toEqual(before);
    expect([places, apart]).toEqual([[0, 1, 2, 3], contents.slice(0, 4)]);
    expect(text.length).toBeLessThan(3000);
    expect(JSON.parse(text)).toEqual([
      { ...body, messages: messages.map((each, at) => (at < 4 ? { ...each, content: "" } : each)) },
      { id: "f" },
    ]);
  });

  it.each([
    ["no messages", [{ a: 1 }, {}]],
    ["messages that are no list", [{ messages: "text" }]],
    ["entries that are no objects", [{ messages: [null, 1, "text", { content: 5 }] }]],
    ["nothing", []],
    ["no object", ["text", undefined]],
  ])("are one text where there is %s", (_what, args) => {
    expect(toShortArguments(args)).toEqual({ text: toArgumentsText(args), places: [], contents: [] });
  });
});
