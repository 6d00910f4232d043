import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { defineFilter } from "#kernel/pipeline/filter.ts";
import { definePlugin } from "#kernel/plugin.ts";
import { startAppWithUpstream } from "#test/support/app-with-upstream.ts";
import type { App, TestUser } from "#test/support/app.ts";
import { setUp } from "#test/support/set-up.ts";
import { text } from "#test/support/upstream-scripts.ts";
import type { Upstream } from "#test/support/upstream.ts";

// What only passes through keeps its digits, whatever is done to the request around it.

const schema =
  '{"type":"object","properties":{"id":{"maximum":9223372036854775807,"minimum":1.0,"ratio":1e400}}}';
const tool = `{"type":"function","function":{"name":"find","parameters":${schema}}}`;
const toBody = (more: object) =>
  `${JSON.stringify({ messages: [{ role: "user", content: "Hi" }], ...more }).slice(0, -1)},` +
  `"custom":-0.50,"tools":[${tool}]}`;

/** Puts a message in front, and leaves the rest alone. */
const prefixer = definePlugin({
  id: "prefixer",
  title: "Prefixer",
  setup: () => ({
    filters: [
      defineFilter({
        id: "prefixer.greet",
        name: "Greet",
        priority: 0,
        inlet: (request) =>
          request.model === "filtered"
            ? { ...request, messages: [{ role: "system", content: "Be kind." }, ...request.messages] }
            : request,
      }),
    ],
  }),
});

const code = "export function inlet(body) { return { ...body, user: 'somebody' }; }";

let app: App;
let upstream: Upstream;
let admin: TestUser;

setUp(async (keep) => {
  ({ app, upstream } = await keep(
    startAppWithUpstream({ models: ["alpha", "o3-mini"], connection: {}, plugins: [prefixer] }),
  ));
  admin = await app.admin();
  const call = (route: string, body: object) => admin.call(route, body);
  const made = await call("POST /api/v1/functions/create", {
    id: "named",
    name: "Named",
    content: code,
    meta: {},
  });
  expect(made.status).toBe(200);
  await call("POST /api/v1/functions/id/named/toggle", {});
  for (const [id, more] of Object.entries<object>({
    saved: { params: { temperature: 0.5, system: "Be brief." } },
    filtered: {},
    sandboxed: { meta: { filterIds: ["named"] } },
  })) {
    const record = { id, name: id, base_model_id: "alpha", meta: {}, params: {}, ...more };
    expect((await call("POST /api/v1/models/create", record)).status).toBe(200);
  }
});

/** The bytes of the body that reached the upstream. */
async function sent(route: string, body: string): Promise<string> {
  const next = upstream.nextRequest("/chat/completions");
  upstream.reply("/chat/completions", text("Hello."));
  const answer = await admin.call(`POST ${route}`, body);
  expect(answer.status, answer.text).toBe(200);
  return String((await next).bytes);
}

describe("numbers reach the upstream digit for digit", () => {
  it.each<[string, object]>([
    ["as they are", { model: "alpha" }],
    ["with a session", { model: "alpha", session_id: "s" }],
    ["with a saved model", { model: "saved" }],
    ["past a native filter", { model: "filtered" }],
    ["past a filter in the sandbox", { model: "sandboxed" }],
    ["with a parameter that is renamed", { model: "o3-mini", max_tokens: 5 }],
  ])("%s", async (_, more) => {
    const body = await sent("/api/chat/completions", toBody(more));
    expect(body).toContain(schema);
    expect(body).toContain('"custom":-0.50');
  });

  it("in a run that is written into a chat", async () => {
    const chat = { title: "A chat", history: { currentId: null, messages: {} } };
    const made = await admin.call("POST /api/v1/chats/new", { chat });
    const user_message = { id: randomUUID(), content: "Hi" };
    const place = { chat_id: made.body.id, id: randomUUID(), session_id: "s", stream: true, user_message };
    expect(await sent("/api/chat/completions", toBody({ model: "saved", ...place }))).toContain(schema);
  });

  it("on the compat surface, with a saved model", async () => {
    expect(await sent("/compat/chat/completions", toBody({ model: "saved" }))).toContain(schema);
  });
});

describe("what is refused with its field", () => {
  it.each<[object, string]>([
    [{ stream: true, stream_options: { include_usage: "yes" } }, "include_usage"],
    [{ messages: [] }, "messages"],
    [{ max_tokens: 0 }, "max_tokens"],
    [{ max_completion_tokens: -1 }, "max_completion_tokens"],
  ])("%j", async (more, field) => {
    const body = { model: "alpha", messages: [{ role: "user", content: "Hi" }], ...more };
    const answer = await admin.call("POST /api/chat/completions", body);
    expect([400, 422]).toContain(answer.status);
    expect(answer.body.detail[0].loc.join(".")).toContain(field);
  });
});

it("numbers that were saved as text are numbers", async () => {
  const params = {
    temperature: "0.7",
    max_tokens: " 5 ",
    top_k: "40",
    options: { num_ctx: "4096", stop: "1" },
  };
  const expected = { temperature: 0.7, max_tokens: 5, top_k: 40, options: { num_ctx: 4096, stop: "1" } };
  const call = (route: string, body: object) => admin.call(route, body);
  const read = async (id: string) => (await admin.call(`GET /api/v1/models/model?id=${id}`)).body.params;
  const record = { id: "texts", name: "Texts", base_model_id: "alpha", meta: {} };
  expect((await call("POST /api/v1/models/create", { ...record, params })).status).toBe(200);
  expect(await read("texts")).toMatchObject(expected);
  await call("POST /api/v1/models/model/update", { ...record, params: { temperature: "1e-1" } });
  expect(await read("texts")).toMatchObject({ temperature: 0.1 });
  await call("POST /api/v1/models/import", { models: [{ ...record, id: "brought", params }] });
  expect(await read("brought")).toMatchObject(expected);
  expect(
    (await call("POST /api/v1/models/create", { ...record, id: "x", params: { temperature: "warm" } }))
      .status,
  ).toBe(422);
});
