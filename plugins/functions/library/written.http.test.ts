import { beforeEach, expect, it } from "vitest";
import type { App, TestUser } from "#test/support/app.ts";
import { setUp } from "#test/support/set-up.ts";
import { text } from "#test/support/upstream-scripts.ts";
import type { Upstream } from "#test/support/upstream.ts";
import { addFunction, require, startWithUpstream } from "../functions.fixture.ts";

let app: App;
let upstream: Upstream;
let admin: TestUser;

setUp(async (keep) => {
  ({ app, upstream, admin } = await keep(startWithUpstream()));
});

beforeEach(async () => {
  await require(admin.call("POST /api/v1/functions/sync", { functions: [] }));
});

/** The body that the upstream got for a request with this text. */
async function sent(body: string): Promise<string> {
  upstream.reply("/chat/completions", text("ok"));
  const seen = upstream.nextRequest(({ body: sent }) => sent?.messages !== undefined);
  const headers = { "content-type": "application/json" };
  await require(admin.call("POST /api/chat/completions", body, headers));
  return (await seen).bytes.toString();
}

const request = `{ "model":"alpha", "messages": [ {"role":"user","content":"A \\"B\\" \\u00fc"} ], "x": 1.0 }`;
const messages = [{ role: "user", content: 'A "B" ü' }];

it.each([
  ["on one line", request],
  ["on several lines", request.replaceAll(", ", ",\r\n  ")],
  ["behind a byte order mark", `\uFEFF${request}`],
  [
    "with a key twice",
    request.replace('"x"', '"messages": [], "messages": [{"role":"user","content":"A \\"B\\" ü"}], "x"'),
  ],
])("an inlet filter gets a request that was written %s", async (_, body) => {
  await addFunction(app, "look", `export const inlet = (body) => ({ ...body, x_seen: Object.keys(body) });`, {
    global: true,
  });
  const got = await sent(body);
  expect(JSON.parse(got)).toEqual({ model: "alpha", messages, x: 1, x_seen: ["model", "messages", "x"] });
});

it("what it makes goes out as it wrote it, without what is the platform's own", async () => {
  const code = `export const inlet = ({ messages, ...rest }) => ({ ...rest, messages, stop: ["\\u2028", "ü", "\\""] });`;
  await addFunction(app, "last", code, { global: true });
  expect(await sent(request)).toBe(
    // Numbers that only pass through keep their digits.
    JSON.stringify({ model: "alpha", x: 1, messages, stop: ["\u2028", "ü", '"'] }).replace(
      '"x":1,',
      '"x":1.0,',
    ),
  );
  const own = `export const inlet = (body) => ({ ...body, chat_id: "c", filter_ids: ["f"], metadata: { a: 1 } });`;
  await addFunction(app, "own", own, { global: true });
  expect(JSON.parse(await sent(request))).toEqual({
    model: "alpha",
    messages,
    x: 1,
    stop: ["\u2028", "ü", '"'],
  });
});

it("names the model that was allowed, whatever it writes", async () => {
  const code = `export const inlet = (body) => ({ ...body, model: "beta", Model: "gamma", tools: undefined });`;
  await addFunction(app, "other", code, { global: true });
  expect(JSON.parse(await sent(request))).toEqual({ model: "alpha", messages, x: 1 });
  const twice = `export const inlet = (body) => ({ ...body, Model: "gamma" });`;
  await require(admin.call("DELETE /api/v1/functions/id/other/delete"));
  await addFunction(app, "twice", twice, { global: true });
  expect(JSON.parse(await sent(request))).toEqual({ model: "alpha", messages, x: 1 });
});

it("an inlet filter that returns nothing, or works on what it got, leaves the request whole", async () => {
  await addFunction(app, "a_none", `export function inlet(body) { body.messages.length = 0; }`, {
    global: true,
  });
  expect(JSON.parse(await sent(request))).toEqual({ model: "alpha", messages, x: 1 });
  const change = `export function inlet(body) { body.messages[0].content += "!"; return body; }`;
  await addFunction(app, "b_change", change, { global: true });
  await addFunction(app, "c_change", change, { global: true });
  expect(JSON.parse(await sent(request)).messages).toEqual([{ role: "user", content: 'A "B" ü!!' }]);
});
