import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type App, startApp, type TestUser } from "#test/support/app.ts";
import { openStream } from "#test/support/client.ts";
import { addFunction, removeFunction, require, toFrames } from "../functions.fixture.ts";

let app: App;
let admin: TestUser;
let sdk: OpenAI;

beforeAll(async () => {
  app = await startApp({ env: { OPENAI_API_BASE_URLS: "", FUNCTION_CALL_TIMEOUT_SECONDS: "2" } });
  admin = await app.admin();
  sdk = new OpenAI({ baseURL: `${app.url}/api`, apiKey: admin.token, maxRetries: 0 });
});

afterAll(() => app.close());

const messages = [{ role: "user" as const, content: "Hi" }];
const call = (route: string, body?: unknown) => admin.call(route, body);
const complete = (model: string, body: object = {}) =>
  call("POST /api/chat/completions", { model, messages, ...body });

async function streamText(model: string): Promise<string> {
  const stream = sdk.chat.completions.stream({ model, messages });
  return (await stream.finalChatCompletion()).choices[0]?.message.content ?? "";
}

const kinds: [string, string][] = [
  ["a text", `export function pipe() { return "one two"; }`],
  ["a promise of a text", `export async function pipe() { return "one two"; }`],
  ["a generator of texts", `export function* pipe() { yield "one "; yield "two"; }`],
  ["an async generator of texts", `export async function* pipe() { yield "one "; await null; yield "two"; }`],
  [
    "lines of an event stream",
    `export function* pipe() {
      yield 'data: {"choices":[{"index":0,"delta":{"content":"one "}}]}\\n\\n';
      yield 'data: {"choices":[{"index":0,"delta":{"content":"two"},"finish_reason":"stop"}]}';
      yield "data: [DONE]"; }`,
  ],
  [
    "frames with names and comments",
    `export function* pipe() {
      yield ': waiting\\n\\nevent: part\\ndata: {"choices":[{"index":0,"delta":{"content":"one "}}]}\\n\\n';
      yield 'data: two'; }`,
  ],
  [
    "chunk objects",
    `export function* pipe() {
      yield { choices: [{ index: 0, delta: { content: "one " } }] };
      yield { choices: [{ index: 0, delta: { content: "two" } }] };
      yield { choices: [], usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 } }; }`,
  ],
  [
    "a whole completion",
    `export function pipe() {
      return { choices: [{ index: 0, message: { role: "assistant", content: "one two" }, finish_reason: "stop" }],
        usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 } }; }`,
  ],
];

describe.each(kinds)("a pipe that gives %s", (kind, code) => {
  it("answers streamed and whole", async () => {
    await addFunction(app, "teller", code);
    expect(await streamText("teller")).toBe("one two");
    const whole = await sdk.chat.completions.create({ model: "teller", messages });
    expect(whole).toMatchObject({
      object: "chat.completion",
      model: "teller",
      choices: [{ message: { role: "assistant", content: "one two" }, finish_reason: "stop" }],
    });
    if (kind === "chunk objects" || kind === "a whole completion") {
      expect(whole.usage?.total_tokens).toBe(3);
    }
    const { text } = await complete("teller", { stream: true });
    const frames = toFrames(text);
    expect(frames.filter(({ choices }) => choices[0]?.finish_reason).length).toBe(1);
    expect(new Set(frames.map(({ model, object }) => `${object} ${model}`))).toEqual(
      new Set(["chat.completion.chunk teller"]),
    );
    expect(text.endsWith("data: [DONE]\n\n")).toBe(true);
    await removeFunction(app, "teller");
  });
});

describe("models of pipes", () => {
  const list = async () =>
    (await require(call("GET /api/models?refresh=true"))).body.data.filter(
      ({ pipe }: { pipe?: object }) => pipe,
    );

  it("are one for each pipe, for administrators until a record opens them", async () => {
    const code = `export const userValves = { tone: { type: "string", default: "" } };
      export function pipe(body, ctx) { return ctx.id; }`;
    await addFunction(app, "single", code);
    expect(await list()).toMatchObject([
      { id: "single", name: "single", owned_by: "openai", pipe: { type: "pipe" }, has_user_valves: true },
    ]);
    const member = await app.user();
    const asMember = { token: member.token, body: { model: "single", messages } };
    expect((await app.call("POST /api/chat/completions", asMember)).status).toBe(404);
    await removeFunction(app, "single");
    expect(await list()).toEqual([]);
    expect((await complete("single")).status).toBe(404);
  });

  it("are several when it names them, as a list or by a function", async () => {
    const listed = `export const name = "Birds: ";
      export const pipes = [{ id: "owl", name: "Owl" }, { id: "a.b", name: "Dotted" }];
      export function pipe(body, ctx) { return ctx.id + " " + body.model; }`;
    await addFunction(app, "birds", listed);
    const dynamic = `export const valves = { extra: { type: "string", default: "one" } };
      export async function pipes({ valves }) { return [{ id: valves.extra, name: valves.extra }]; }
      export function pipe(body, ctx) { return ctx.id; }`;
    await addFunction(app, "moving", dynamic);
    expect((await list()).map(({ id, name }: { id: string; name: string }) => [id, name])).toEqual(
      expect.arrayContaining([
        ["birds.owl", "Birds: Owl"],
        ["birds.a.b", "Birds: Dotted"],
        ["moving.one", "one"],
      ]),
    );
    expect(await streamText("birds.a.b")).toBe("a.b birds.a.b");
    await require(call("POST /api/v1/functions/id/moving/valves/update", { extra: "two" }));
    expect(await streamText("moving.two")).toBe("two");
    expect((await complete("moving.one")).status).toBe(404);
    await removeFunction(app, "birds");
    await removeFunction(app, "moving");
  });
});

describe("what a pipe is told", () => {
  it("is the request without metadata, and the facts in its context", async () => {
    const code = `export function pipe(body, ctx) {
      const { host, ...facts } = ctx; return JSON.stringify({ body, facts }); }`;
    await addFunction(app, "mirror", code);
    const sent = {
      metadata: { note: "n" },
      temperature: 0.5,
      files: [{ type: "text", content: "f" }],
      session_id: "s",
    };
    const answer = await require(complete("mirror", sent));
    const { body, facts } = JSON.parse(answer.body.choices[0].message.content);
    // A text that goes along stands around the question.
    const content = expect.stringMatching(/>f<\/source>[^]*\n\nHi$/);
    expect(body).toEqual({ model: "mirror", messages: [{ role: "user", content }], temperature: 0.5 });
    expect(facts).toMatchObject({
      user: { id: admin.id, role: "admin" },
      metadata: { note: "n" },
      model: { id: "mirror" },
      files: [{ type: "text", content: "f" }],
      session_id: "s",
      id: "mirror",
    });
    await removeFunction(app, "mirror");
  });
});

describe("a pipe that fails", () => {
  it.each<[string, string, number]>([
    ["throws", `export function pipe() { throw new Error("No key was set."); }`, 502],
    [
      "gives an error object",
      `export function pipe() { return { error: { message: "No key was set." } }; }`,
      502,
    ],
    ["never answers", `export function pipe() { return new Promise(() => {}); }`, 504],
  ])("when it %s, answers with a status and its words", async (_how, code, status) => {
    await addFunction(app, "failing", code);
    for (const stream of [true, false]) {
      const answer = await complete("failing", { stream });
      expect(answer.status).toBe(status);
      expect(answer.body.error.message).toEqual(
        status === 502 ? "No key was set." : expect.stringMatching(/did not answer within/),
      );
    }
    await removeFunction(app, "failing");
  });

  it("in the middle of a stream, ends it with an error frame", async () => {
    const code = `export function* pipe() { yield "part"; throw new Error("Broke."); }`;
    await addFunction(app, "halfway", code);
    await expect(streamText("halfway")).rejects.toThrow("Broke.");
    await removeFunction(app, "halfway");
  });

  it("is ended when its caller leaves", async () => {
    const code = `export const meta = { capabilities: { storage: true } };
      export async function* pipe(body, { host }) {
        for (let n = 0; ; n++) { await host.storage.set("n", n); yield "x"; } }`;
    await addFunction(app, "endless", code);
    const open = await openStream(app.url, admin.token, { model: "endless", messages });
    open.abort();
    const count = async () => {
      const reader = `export const meta = { capabilities: { storage: true } };
        export async function pipe(body, { host }) { return String(await host.storage.get("n")); }`;
      await require(call("POST /api/v1/functions/id/endless/update", { name: "e", content: reader }));
      return (await require(complete("endless"))).body.choices[0].message.content;
    };
    // Word of the leaving takes its time on a busy machine; from then on nothing is counted.
    const grown = async () => {
      const first = Number(await count());
      await new Promise((resolve) => setTimeout(resolve, 300));
      return Number(await count()) - first;
    };
    await expect.poll(grown, { timeout: 10_000 }).toBe(0);
    await removeFunction(app, "endless");
  });
});
