import { describe, expect, it } from "vitest";
import type { App, TestUser } from "#test/support/app.ts";
import { setUp } from "#test/support/set-up.ts";
import { text } from "#test/support/upstream-scripts.ts";
import type { Upstream } from "#test/support/upstream.ts";
import { addFunction, removeFunction, startWithUpstream, toTexts } from "../functions.fixture.ts";

let app: App;
let upstream: Upstream;
let admin: TestUser;

setUp(async (keep) => {
  ({ app, upstream, admin } = await keep(startWithUpstream()));
});

const messages = [{ role: "user", content: "Hi" }];
const deep = `let deep = {}; for (let n = 0; n < 5000; n++) deep = n % 2 ? [deep] : { deep };`;
const tooDeep = /nested too deep|nested deeper/;
const reason = "The answer is nested deeper than 200 levels.";

const complete = (body: object) => admin.call("POST /api/chat/completions", { messages, ...body });

async function withFunction<T>(code: string, run: () => Promise<T>): Promise<T> {
  await addFunction(app, "deep", `${deep} ${code}`, { global: true });
  try {
    return await run();
  } finally {
    await removeFunction(app, "deep");
  }
}

// What a function answers is walked by code that would run out of stack.
describe("an answer nested 5,000 deep", () => {
  it.each([
    ["a whole answer", "export const pipe = () => ({ choices: [{ message: { content: 'x', deep } }] });"],
    ["any object", "export const pipe = () => deep;"],
    ["a list", "export const pipe = () => [[deep]];"],
    ["an item", "export async function* pipe() { yield { choices: [{ index: 0, delta: { deep } }] }; }"],
  ])("of a pipe that gives %s is a typed error with the reason", async (_, code) => {
    await withFunction(code, async () => {
      for (const stream of [false, true]) {
        const answer = await complete({ model: "deep", stream });
        expect([answer.status, answer.text]).toEqual([502, expect.stringContaining(reason)]);
      }
    });
  });

  it("of an inlet ends the request with the reason", async () => {
    await withFunction("export const inlet = (body) => ({ ...body, deep });", async () => {
      const answer = await complete({ model: "alpha" });
      expect([answer.status, answer.text]).toEqual([400, expect.stringMatching(tooDeep)]);
    });
  });

  it("of a stream hook leaves the hook out", async () => {
    await withFunction("export const stream = (chunk) => ({ ...chunk, deep });", async () => {
      upstream.reply("/chat/completions", text("one two"));
      const answer = await complete({ model: "alpha", stream: true });
      expect([answer.status, toTexts(answer.text).join("")]).toEqual([200, "one two"]);
      expect(answer.text).not.toContain("deep");
    });
  });

  it("of an outlet leaves the conversation as it was", async () => {
    await withFunction("export const outlet = (body) => ({ ...body, deep });", async () => {
      upstream.reply("/chat/completions", text("one two"));
      const body = { model: "alpha", messages: [...messages, { role: "assistant", content: "Ho" }], id: "m" };
      const answer = await admin.call("POST /api/chat/completed", body);
      expect([answer.status, answer.text]).toEqual([200, expect.not.stringContaining("deep")]);
    });
  });

  it("of an action is refused with the reason", async () => {
    await withFunction("export const action = () => deep;", async () => {
      const body = { model: "alpha", messages };
      const answer = await admin.call("POST /api/chat/actions/deep", body);
      expect([answer.status, answer.body.detail]).toEqual([400, reason]);
    });
  });

  it("to its host is refused", async () => {
    const code = `export const meta = { capabilities: { storage: true } };
      export const action = (body, { host }) => host.storage.set("deep", deep).then(() => "kept", (error) => error.message);`;
    await withFunction(code, async () => {
      const body = { model: "alpha", messages };
      const answer = await admin.call("POST /api/chat/actions/deep", body);
      expect([answer.status, answer.body]).toEqual([200, "The arguments are nested deeper than 200 levels."]);
    });
  });

  it("of a module about itself is refused when it is saved", async () => {
    const content = `${deep} export const meta = { deep }; export const action = () => 1;`;
    const body = { id: "deep", name: "deep", content, meta: {} };
    expect(await admin.call("POST /api/v1/functions/create", body)).toMatchObject({
      status: 400,
      body: {
        detail: expect.stringContaining("The data that the module exports is nested deeper than 200 levels."),
      },
    });
  });

  it("of a dry run is told as an error", async () => {
    const content = `${deep} export const inlet = () => deep; export const stream = () => ({ deep });`;
    for (const hook of ["inlet", "stream"]) {
      const body = { content, hook, body: {} };
      const answer = await admin.call("POST /api/v1/functions/dry-run", body);
      expect([answer.status, answer.body.error?.message]).toEqual([200, expect.stringMatching(tooDeep)]);
    }
  });
});
