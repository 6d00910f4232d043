import { expect, it } from "vitest";
import type { App, TestUser } from "#test/support/app.ts";
import { setUp } from "#test/support/set-up.ts";
import { text } from "#test/support/upstream-scripts.ts";
import type { Upstream } from "#test/support/upstream.ts";
import { addFunction, startWithUpstream } from "../functions.fixture.ts";

let app: App;
let upstream: Upstream;
let admin: TestUser;

setUp(async (keep) => {
  ({ app, upstream, admin } = await keep(startWithUpstream()));
});

/** Makes chunks whose parts are of no type that the wire knows, and one that lacks what can be told. */
const odd = `
  const made = [
    { choices: [{ index: 0, delta: { tool_calls: {} } }] },
    { choices: [null, { delta: { content: "said" } }] },
    { choices: "none" },
  ];
  export function stream() { return made.shift() ?? { choices: [{ index: 0, delta: {}, finish_reason: "stop" }] }; }`;

it("what a stream hook makes of chunks ends no stream and no service, on any wire", async () => {
  const body = { model: "alpha", stream: true, max_tokens: 50, messages: [{ role: "user", content: "Hi" }] };
  for (const [at, route] of ["POST /api/v1/messages", "POST /api/chat/completions"].entries()) {
    await addFunction(app, `odd${at}`, odd, { global: true });
    upstream.reply("/chat/completions", text("one two three four five"));
    const answer = await admin.call(route, body);
    expect([answer.status, answer.text.includes("said")]).toEqual([200, true]);
    expect(answer.text).toMatch(/message_stop|\[DONE\]/);
    await admin.call(`DELETE /api/v1/functions/id/odd${at}/delete`);
  }
  expect((await app.call("GET /health")).status).toBe(200);
});

it.each([
  ["choices that are none", "[{ choices: [null] }, 'said']"],
  ["a message that is none", "[{ choices: [{ message: null }] }, 'said']"],
])("a pipe that gives %s is no failure of the service", async (_what, items) => {
  const code = `export async function* pipe() { for (const item of ${items}) yield item; }`;
  await addFunction(app, "odd_pipe", code, {});
  for (const stream of [true, false]) {
    const body = { model: "odd_pipe", stream, messages: [{ role: "user", content: "Hi" }] };
    const answer = await admin.call("POST /api/chat/completions", body);
    expect([answer.status, answer.text.includes("said")]).toEqual([200, true]);
  }
  await admin.call("DELETE /api/v1/functions/id/odd_pipe/delete");
});
