import { sql } from "kysely";
import { describe, expect, it } from "vitest";
import { definePlugin } from "#kernel/plugin.ts";
import { type App, startApp, type TestUser } from "#test/support/app.ts";
import { setUp } from "#test/support/set-up.ts";
import { html } from "#test/support/upstream-faults.ts";
import { body as bytes, failure } from "#test/support/upstream-scripts.ts";
import { startUpstream, type Upstream } from "#test/support/upstream.ts";
import { addFunction, removeFunction, require } from "../functions.fixture.ts";
import { toRawUrl } from "./load-url.ts";

let app: App;
let upstream: Upstream;
let admin: TestUser;
/** Changes code behind the server's back, as a restored backup would. */
let overwrite: (id: string, content: string) => Promise<void>;
const intruder = definePlugin({
  id: "intruder",
  title: "Intruder",
  setup({ db }) {
    overwrite = async (id, content) => {
      await sql`update function set content = ${content} where id = ${id}`.execute(db);
    };
    return {};
  },
});

setUp(async (keep) => {
  upstream = await keep(startUpstream());
  app = await keep(startApp({ plugins: [intruder] }));
  admin = await app.admin();
});

const call = (route: string, body?: unknown) => admin.call(route, body);
const create = (content: string, id = "fresh") =>
  call("POST /api/v1/functions/create", { id, name: "Fresh", content, meta: {} });
const good = `export function inlet(body) { return body; }`;

describe("code that does not load is refused, with its place", () => {
  it.each<[string, string, RegExp]>([
    ["broken syntax", "\n\nexport function inlet(body) {\n  return body..messages;\n}", /line 4, column 1\d/],
    ["broken types", "export function inlet(body: string {\n}", /line 1/],
    ["an import", `import fs from "node:fs";\n${good}`, /import/i],
    ["an error while it is evaluated", `${good}\nthrow new Error("not today");`, /not today.*line 2/],
    ["nothing to call", "export const meta = {};", /exports none of/],
    ["a bad valve", `export const valves = { a: { type: "banana" } };\n${good}`, /Valves\.a/],
    ["endless evaluation", `${good}\nfor (;;) {}`, /ran longer than/],
  ])("%s", { timeout: 30_000 }, async (_what, content, message) => {
    const answer = await create(content);
    expect([answer.status, answer.body.detail]).toEqual([400, expect.stringMatching(message)]);
    expect((await call("GET /api/v1/functions/id/fresh")).status).toBe(404);
  });

  it.each(["", "1st", "a-b", "a.b", "ünic", "x".repeat(257)])(
    "and so is what is no identifier: %j",
    async (id) => {
      const refusal = [400, expect.stringMatching(/letters, digits and underscores/)];
      const created = await create(good, id);
      expect([created.status, created.body.detail]).toEqual(refusal);
      const synced = await call("POST /api/v1/functions/sync", {
        functions: [{ id, name: "x", content: good }],
      });
      expect([synced.status, synced.body.detail]).toEqual(refusal);
    },
  );

  it("a dry run tells line and column as numbers", async () => {
    const { body } = await require(
      call("POST /api/v1/functions/dry-run", {
        content: "\nexport function pipe() { return 1 +; }",
        hook: "pipe",
      }),
    );
    expect(body.error).toMatchObject({ kind: "syntax", line: 2, column: expect.any(Number) });
    const thrown = `export function pipe() {\n  throw new Error("now");\n}`;
    const late = await require(call("POST /api/v1/functions/dry-run", { content: thrown, hook: "pipe" }));
    expect(late.body).toMatchObject({ type: "pipe", error: { kind: "thrown", message: "now", line: 2 } });
    const other = await require(call("POST /api/v1/functions/dry-run", { content: good, hook: "action" }));
    expect(other.body.error).toMatchObject({ kind: "missing" });
  });

  it.each(["1st", "has-hyphen", "with space", "ä"])("the id %s is none", async (id) => {
    expect((await create(good, id)).status).toBe(400);
  });
});

it("TypeScript is taken as it is", async () => {
  const content = `interface Body { messages: unknown[] }
    enum Mark { A = "a" }
    export function inlet(body: Body): Body & { mark: Mark } { return { ...body, mark: Mark.A }; }`;
  await require(create(content));
  const dry = await require(
    call("POST /api/v1/functions/dry-run", { content, hook: "inlet", body: { messages: [] } }),
  );
  expect(dry.body.result).toEqual({ messages: [], mark: "a" });
  await removeFunction(app, "fresh");
});

describe("a stored function", () => {
  it("runs on as it was after an update that does not load", async () => {
    await addFunction(app, "steady", good, { global: true });
    const update = { name: "Steady", content: "export function inlet( {" };
    const answer = await call("POST /api/v1/functions/id/steady/update", update);
    expect([answer.status, answer.body.detail]).toEqual([400, expect.stringContaining("line 1")]);
    const { body } = await call("GET /api/v1/functions/id/steady");
    expect(body).toMatchObject({ is_active: true, content: good, error: null, version_id: "1" });
    await removeFunction(app, "steady");
  });

  it("is switched off, visibly, when it was changed outside of the editor and no longer loads", async () => {
    await addFunction(app, "tampered", good, { global: true });
    await addFunction(app, "other", good);
    await overwrite("tampered", "export function inlet( {");
    // Any change makes the active functions be read again.
    await require(call("POST /api/v1/functions/id/other/toggle/global"));
    await require(call("GET /api/models"));
    await expect
      .poll(async () => (await call("GET /api/v1/functions/id/tampered")).body)
      .toMatchObject({ is_active: false, error: expect.stringContaining("line 1") });
    const member = await app.user();
    const shown = await member.call("GET /api/v1/functions/");
    expect(shown.body.find(({ id }: { id: string }) => id === "tampered")).toMatchObject({ error: null });
    expect((await call("POST /api/v1/functions/id/tampered/toggle")).status).toBe(400);
    await removeFunction(app, "tampered");
    await removeFunction(app, "other");
  });
});

describe("loading from an address", () => {
  it("fetches the text and names it after the file", async () => {
    upstream.reply(() => true, bytes(good, { headers: { "content-type": "text/plain" } }));
    const url = `${upstream.origin}/some/where/my%20filter.ts?raw=1`;
    const { body } = await require(call("POST /api/v1/functions/load/url", { url }));
    expect(body).toEqual({ name: "my_filter", content: good });
  });

  it("refuses pages, failures, too much and what is no address", async () => {
    const load = (path: string) => call("POST /api/v1/functions/load/url", { url: upstream.origin + path });
    upstream.reply(() => true, html(200));
    expect((await load("/a.js")).status).toBe(400);
    upstream.reply(() => true, failure(404, "gone"));
    expect((await load("/a.js")).body.detail).toContain("404");
    upstream.reply(() => true, bytes("x".repeat(600_000)));
    expect((await load("/a.js")).status).toBe(502);
    expect((await call("POST /api/v1/functions/load/url", { url: "file:///etc/passwd" })).status).toBe(400);
  });

  it.each([
    ["https://github.com/o/r/blob/main/a/b.js", "https://raw.githubusercontent.com/o/r/main/a/b.js"],
    ["https://github.com/o/r/blob/main/b.js?x=1#L3", "https://raw.githubusercontent.com/o/r/main/b.js"],
    ["https://github.com/o/r/tree/main/fn/", "https://raw.githubusercontent.com/o/r/main/fn/main.js"],
    ["https://gist.github.com/o/0a1b2c", "https://gist.githubusercontent.com/o/0a1b2c/raw"],
    ["https://gitlab.com/g/s/r/-/blob/main/a.ts", "https://gitlab.com/g/s/r/-/raw/main/a.ts"],
    ["https://codeberg.org/o/r/src/branch/main/a.js", "https://codeberg.org/o/r/raw/branch/main/a.js"],
    ["https://bitbucket.org/o/r/src/main/a.js", "https://bitbucket.org/o/r/raw/main/a.js"],
    ["https://example.test/a.js?v=2", "https://example.test/a.js?v=2"],
  ])("%s is fetched from %s", (page, raw) => {
    expect(toRawUrl(page)).toBe(raw);
  });
});
