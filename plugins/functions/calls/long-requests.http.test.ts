import { beforeEach, expect, it } from "vitest";
import type { App, TestUser } from "#test/support/app.ts";
import { setUp } from "#test/support/set-up.ts";
import { text } from "#test/support/upstream-scripts.ts";
import type { Upstream } from "#test/support/upstream.ts";
import { addFunction, require, toTexts, startWithUpstream } from "../functions.fixture.ts";

let app: App;
let upstream: Upstream;
let admin: TestUser;

setUp(async (keep) => {
  ({ app, upstream, admin } = await keep(startWithUpstream()));
});

beforeEach(async () => {
  await require(call("POST /api/v1/functions/sync", { functions: [] }));
});

const call = (route: string, body?: unknown) => admin.call(route, body);
const messages = [{ role: "user", content: "Hi" }];
const numbers = Array.from({ length: 600_000 }, (_, at) => at);

/** The answer's text, and whether the server answered others meanwhile. */
async function complete(body: object) {
  upstream.reply("/chat/completions", text("one two"));
  const answering = call("POST /api/chat/completions", { model: "alpha", messages, stream: true, ...body });
  const health = await app.call("GET /health");
  const answer = await answering;
  return [health.status, answer.status, toTexts(answer.text).join("")];
}

const isActive = async (id: string) => (await call(`GET /api/v1/functions/id/${id}`)).body.is_active;

it("streams through filters whatever stands in the request's notes", async () => {
  const loud = `export function stream(event) {
    const delta = event.choices?.[0]?.delta; if (delta?.content) delta.content = delta.content.toUpperCase(); }`;
  await addFunction(app, "loud", loud, { global: true });
  for (const body of [{ metadata: { numbers } }, { session_id: "s".repeat(4e6) }]) {
    for (let count = 0; count < 3; count += 1) {
      expect(await complete(body)).toEqual([200, 200, "ONE TWO"]);
    }
  }
  expect(await isActive("loud")).toBe(true);
});

it("leaves a filter that reads what is too long out of the run, and switches it off for nobody", async () => {
  const curious = `export function stream(event, ctx) { event.id = "seen" + ctx.metadata.numbers.length; }`;
  await addFunction(app, "curious", curious, { global: true });
  for (let count = 0; count < 3; count += 1) {
    expect(await complete({ metadata: { numbers } })).toEqual([200, 200, "one two"]);
  }
  expect(await isActive("curious")).toBe(true);
});

it("refuses a request of more values than a filter can be given, and keeps the filter on", async () => {
  await addFunction(app, "strict", `export function inlet(body) { return body; }`, { global: true });
  const params = { many: Array.from({ length: 1_500_000 }, () => ({})) };
  for (let count = 0; count < 3; count += 1) {
    const answer = await call("POST /api/chat/completions", { model: "alpha", messages, params });
    expect([answer.status, answer.body.detail]).toEqual([400, expect.stringContaining("262144 values")]);
  }
  expect(await isActive("strict")).toBe(true);
});
