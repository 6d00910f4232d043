import { afterAll, describe, expect, it } from "vitest";
import { withJson } from "#kernel/known-json.ts";
import { toArgumentsText, toShortArguments } from "./arguments.ts";
import { limits } from "../limits.ts";
import { openBench } from "../testing.ts";

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

/** What becomes of `body` in a hook of this source. */
const through = async (source: string, id: string) =>
  await run(source, { id, args: [structuredClone(body), {}], isHook: true });

describe("the answer of a hook", () => {
  it.each([
    ["as they are", "(body) => body", body],
    ["without some", "(body) => ({ messages: body.messages.slice(2) })", { messages: messages.slice(2) }],
    [
      "in another order",
      "({ messages }) => ({ messages: messages.reverse() })",
      { messages: messages.toReversed() },
    ],
    [
      "twice",
      "({ messages }) => ({ messages: [messages[0], messages[1], messages[0]] })",
      { messages: [messages[0], messages[1], messages[0]] },
    ],
    [
      "between others",
      "({ messages }) => ({ messages: [{ role: 'system', content: 'Be brief.' }, ...messages] })",
      { messages: [{ role: "system", content: "Be brief." }, ...messages] },
    ],
    [
      "changed",
      "({ messages }) => ({ messages: messages.map((each) => ({ ...each, content: `${each.content}!` })) })",
      { messages: messages.map((each) => ({ ...each, content: `${String(each.content)}!` })) },
    ],
    ["as fields of their own", "({ messages }) => messages.map(({ content }) => content)", contents],
    ["of one", "({ messages }) => messages[1]", messages[1]],
  ])("has contents of messages %s", async (what, source, expected) => {
    expect(await through(`export const f = ${source};`, `has ${what}`)).toEqual(
      JSON.parse(JSON.stringify(expected)),
    );
  });

  // Each of these is written another way than by its fields.
  it.each([
    ["messages by their own rule", "messages[0].toJSON = () => 'short'"],
    ["a list by its own rule", "messages.toJSON = () => [messages[1]]"],
    ["all of it by its own rule", "body.toJSON = () => ({ messages: 5 })"],
    ["every list by a rule", "Array.prototype.toJSON = () => 'list'"],
    ["a message by what it inherits", "messages[0] = Object.create(messages[0])"],
    ["messages that are inherited", "body = Object.create(body)"],
    [
      "a content that is hidden",
      "Object.defineProperty(messages[0], 'content', { value: messages[0].content, enumerable: false })",
    ],
    [
      "a content that is read anew",
      "{ const { content } = messages[0]; Object.defineProperty(messages[0], 'content', { get: () => content, enumerable: true }); }",
    ],
    [
      "a message that changes when it is looked at",
      "messages[0] = new Proxy(messages[0], { ownKeys: () => ['role'] })",
    ],
    ["gaps", "delete messages[1]"],
    [
      "messages that are a class",
      "messages[0] = Object.assign(new (class Message { shout() {} })(), messages[0])",
    ],
    [
      "a rule that comes and goes",
      "{ let n = 0; Object.defineProperty(messages, 'toJSON', { get: () => (n++ ? () => 1 : undefined) }); }",
    ],
  ])("is what JSON makes of it: %s", async (what, change) => {
    const source = (answer: string) =>
      `export function f(body) { const { messages } = body; ${change}; return ${answer}; }`;
    const [apart, whole] = [
      await through(source("body"), `apart ${what}`),
      // Nothing can be left out of a text.
      await through(source("JSON.stringify(body)"), `whole ${what}`),
    ];
    expect(apart).toEqual(JSON.parse(String(whole)));
  });

  it("has each caller's own contents where many cross together, and those of hooks that wait", async () => {
    for (const source of [
      "export const f = ({ messages }) => ({ messages: [messages.at(-1), ...messages] })",
      "export const f = async ({ messages }) => { await null; return { messages: [messages.at(-1), ...messages] }; }",
    ]) {
      const asked = Array.from({ length: 30 }, (_, at) => {
        const own = Array.from({ length: at % 4 }, (__, n) => ({ content: long(`${at} and ${n} `) }));
        return [...own, { content: `short ${at}` }];
      });
      const answers = await Promise.all(
        asked.map((own) => run(source, { id: "many", args: [{ messages: own }, {}], isHook: true })),
      );
      expect(answers).toEqual(asked.map((own) => ({ messages: [own.at(-1), ...own] })));
    }
  });
});

describe("arguments that cross with others", () => {
  it("have only what is long apart, and change nothing of what was given", () => {
    const before = structuredClone(body);
    const { texts, places, contents: apart, length } = toShortArguments([body, { id: "f" }]);
    expect(body).toEqual(before);
    expect([places, apart]).toEqual([[0, 1, 2, 3], contents.slice(0, 4)]);
    expect(texts.join("").length).toBeLessThan(3000);
    expect(length).toBe([...texts, ...apart].join("").length);
    expect(texts.map((text) => JSON.parse(text) as unknown)).toEqual([
      { ...body, messages: messages.map((each, at) => (at < 4 ? { ...each, content: "" } : each)) },
      { id: "f" },
    ]);
  });

  it("have contents apart of what came as JSON, too, and the JSON where none are long", () => {
    const text = JSON.stringify(body);
    expect(toShortArguments([withJson(structuredClone(body), text)])).toEqual(toShortArguments([body]));
    const brief = '{ "messages": [{"content": "short"}] }';
    expect(toShortArguments([withJson(JSON.parse(brief) as object, brief)]).texts).toEqual([brief]);
  });

  it.each([
    ["no messages", [{ a: 1 }, {}]],
    ["messages that are no list", [{ messages: "text" }]],
    ["entries that are no objects", [{ messages: [null, 1, "text", { content: 5 }] }]],
    ["nothing", []],
    ["no object", ["text", undefined]],
  ])("are whole where there is %s", (_what, args) => {
    const { texts, places, contents: apart } = toShortArguments(args);
    expect([`[${texts.join(",")}]`, places, apart]).toEqual([toArgumentsText(args), [], []]);
  });
});
