import { beforeEach, describe, expect, it } from "vitest";
import type { App, TestUser } from "#test/support/app.ts";
import { setUp } from "#test/support/set-up.ts";
import { textChunks } from "#test/support/upstream-chunks.ts";
import { sse, text } from "#test/support/upstream-scripts.ts";
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
const marking = (mark: string, more = "") => `${more}
export function inlet(body) { return { ...body, messages: [...body.messages, { role: "user", content: "${mark}" }] }; }`;

/** What the upstream got after the filters. */
async function sent(body: object = {}) {
  upstream.reply("/chat/completions", text("ok"));
  const seed = Math.floor(Math.random() * 1e9);
  const seen = upstream.nextRequest(({ body: sent }) => sent?.seed === seed);
  await require(call("POST /api/chat/completions", { model: "alpha", messages, seed, ...body }));
  return (await seen).body;
}

const marks = async (body?: object) =>
  (await sent(body)).messages.slice(1).map(({ content }: { content: string }) => content);

describe("which filters run", () => {
  it("by priority: the saved valve, else the code's own, ties by id", async () => {
    const valves = `export const valves = { priority: { type: "integer", default: 0 } };`;
    await addFunction(app, "b_tie", marking("b"), { global: true });
    await addFunction(app, "a_tie", marking("a"), { global: true });
    await addFunction(app, "late", marking("late", "export const meta = { priority: 5 };"), { global: true });
    await addFunction(app, "moved", marking("moved", `export const meta = { priority: 9 }; ${valves}`), {
      global: true,
    });
    expect(await marks()).toEqual(["a", "b", "late", "moved"]);
    await require(call("POST /api/v1/functions/id/moved/valves/update", { priority: -1 }));
    expect(await marks()).toEqual(["moved", "a", "b", "late"]);
  });

  it("toggles only when the request names them, others not before they are global or the model's", async () => {
    await addFunction(app, "optin", marking("optin", "export const meta = { toggle: true };"), {
      global: true,
    });
    await addFunction(app, "local", marking("local"));
    expect(await marks()).toEqual([]);
    expect(await marks({ filter_ids: ["optin", "local"] })).toEqual(["optin"]);
    const record = {
      id: "own",
      name: "Own",
      base_model_id: "alpha",
      params: {},
      meta: { filterIds: ["local"] },
    };
    await require(call("POST /api/v1/models/create", record));
    expect(await marks({ model: "own" })).toEqual(["local"]);
    const listed = (await call("GET /api/models")).body.data;
    const item = listed.find(({ id }: { id: string }) => id === "own");
    expect(item.filters).toMatchObject([{ id: "optin", has_user_valves: false }]);
    await require(call("POST /api/v1/models/model/delete", { id: "own" }));
  });
});

describe("what filters may do to a run", () => {
  it("refuse it with their own words", async () => {
    await addFunction(app, "strict", `export function inlet() { throw new Error("Not about that."); }`, {
      global: true,
    });
    const answer = await call("POST /api/chat/completions", { model: "alpha", messages });
    expect([answer.status, answer.body.detail]).toEqual([400, "Not about that."]);
  });

  it("keep the request when they return nothing, and know the run's facts", async () => {
    const code = `export const userValves = { tone: { type: "string", default: "plain" } };
      export async function inlet(body, ctx) {
        const { host, ...facts } = ctx;
        return { ...body, x_facts: facts };
      }`;
    await addFunction(app, "facts", code, { global: true });
    const { x_facts: facts } = await sent({
      metadata: { note: "n" },
      features: { web_search: true },
      session_id: "s",
    });
    expect(facts).toMatchObject({
      user: { id: admin.id, name: admin.name, email: admin.email, role: "admin" },
      metadata: { note: "n" },
      model: { id: "alpha" },
      userValves: { tone: "plain" },
      session_id: "s",
      features: { web_search: true },
      id: "facts",
    });
    expect(JSON.stringify(facts)).not.toContain(admin.token);
  });

  it("take attached files over", async () => {
    const code = `export const file_handler = true;
      export function inlet(body) { return { ...body, x_files: body.files.length }; }`;
    await addFunction(app, "a_reader", code, { global: true });
    const next = `export function inlet(body) { return { ...body, x_next: [body.files ?? null, body.metadata] }; }`;
    await addFunction(app, "b_next", next, { global: true });
    const body = await sent({
      files: [{ type: "text", content: "1" }],
      metadata: { files: [1], kept: "yes" },
    });
    expect(body).toMatchObject({ x_files: 1, x_next: [null, { kept: "yes" }] });
  });

  it("fail in the stream without the run: the filter is left out, the others go on", async () => {
    const bad = `let n = 0; export function stream(event) {
      if (event.choices?.[0]?.delta?.content && ++n > 1) throw new Error("second");
      return event; }`;
    const good = `export function stream(event) {
      const delta = event.choices?.[0]?.delta; if (delta?.content) delta.content += "+"; return event; }`;
    const hung = `export function stream(event) { for (;;) {} }`;
    await addFunction(app, "a_bad", bad, { global: true });
    await addFunction(app, "b_good", good, { global: true });
    await addFunction(app, "c_hung", hung, { global: true });
    upstream.reply("/chat/completions", text("one two three"));
    const answer = await require(
      call("POST /api/chat/completions", { model: "alpha", messages, stream: true }),
    );
    expect(toTexts(answer.text).join("").replaceAll("+", "")).toBe("one two three");
    expect(
      toTexts(answer.text)
        .filter((piece) => piece !== "")
        .every((piece) => piece.endsWith("+")),
    ).toBe(true);
  });
});

it.each(["null", "5", "undefined", "[]"])(
  "keeps chunks that code makes %s of on their way",
  async (value) => {
    const code = `export function stream(event) { event.toJSON = () => ${value}; return event; }`;
    await addFunction(app, "a_shape", code, { global: true });
    upstream.reply("/chat/completions", text("one two three"));
    const answer = await call("POST /api/chat/completions", { model: "alpha", messages, stream: true });
    expect([answer.status, toTexts(answer.text).join("")]).toEqual([200, "one two three"]);
  },
);

it("filters what follows a chunk that was too long for the hooks", async () => {
  const code = `export function stream(event) {
    const delta = event.choices?.[0]?.delta; if (delta?.content) delta.content = delta.content.toUpperCase(); }`;
  await addFunction(app, "upper", code, { global: true });
  const long = "x".repeat(1_100_000);
  upstream.reply("/chat/completions", sse(textChunks([long, "one", "two"]), { every: 30 }));
  const answer = await call("POST /api/chat/completions", { model: "alpha", messages, stream: true });
  expect(toTexts(answer.text).filter((piece) => piece !== "")).toEqual([long, "ONE", "TWO"]);
});

it("switches a filter off that overruns again and again, and says why", async () => {
  const hung = `export function inlet(body) { for (;;) {} }`;
  await addFunction(app, "hung", hung, { global: true });
  for (let count = 0; count < 3; count += 1) {
    expect((await call("POST /api/chat/completions", { model: "alpha", messages })).status).toBe(400);
  }
  await expect
    .poll(async () => (await call("GET /api/v1/functions/id/hung")).body)
    .toMatchObject({ is_active: false, error: expect.stringContaining("three times") });
  expect(await marks()).toEqual([]);
  const on = await require(call("POST /api/v1/functions/id/hung/toggle"));
  expect(on.body).toMatchObject({ is_active: true, error: null });
}, 150_000);
