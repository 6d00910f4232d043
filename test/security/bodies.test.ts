import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { OwnedRoute } from "#kernel/http/bind.ts";
import { actorEnvironment } from "#test/support/actors.ts";
import { type App, startApp } from "#test/support/app.ts";
import { nameOf, probe, routesOf } from "#test/support/probe.ts";

let app: App;
let routes: OwnedRoute[];
let token: string;

beforeAll(async () => {
  app = await startApp({ env: { ...actorEnvironment, ENABLE_OPENAI_API_PASSTHROUGH: "true" } });
  routes = routesOf(app).filter(({ route }) => route.method !== "HEAD" && !route.path.endsWith("/signout"));
  token = (await app.admin()).token;
});
afterAll(() => app?.close());

/** Leaks in an answer: a path of this machine, a statement, a stack, the name of a part that failed. */
const leak =
  /\/(?:home|root|tmp|work|usr|var|app)\/|node_modules|\.ts:\d+|\bat \w+ \(|select .+ from|insert into|pglite|kysely|postgres|ZodError|TypeError|ECONN|"stack"/i;

const fields = "email password name model messages id ui config user_ids content filename url input role";
const everywhere = (value: unknown) =>
  JSON.stringify(Object.fromEntries(fields.split(" ").map((name) => [name, value])));

describe.each<[string, string | undefined]>([
  ["nothing", undefined],
  ["null", "null"],
  ["a list", "[]"],
  ["a list of lists", "[[[]]]"],
  ["a text", '"x"'],
  ["a number", "1e999"],
  ["an empty object", "{}"],
  ["half an object", '{"a":'],
  ["a deep object", `${'{"a":'.repeat(5_000)}1${"}".repeat(5_000)}`],
  ["a prototype", '{"__proto__":{"a":1}}'],
  ["null everywhere", everywhere(null)],
  ["objects everywhere", everywhere({ $ne: null })],
  [
    "characters no database keeps",
    JSON.stringify({
      email: "\u0000@x.test",
      password: "\ud800",
      name: "\u0000",
      model: "\u0000",
      messages: [{ role: "\u0000", content: "\ud800" }],
      ui: { "\u0000": "\ud800" },
      variables: { a: "\u0000" },
      info: "\u0000",
      status_message: "\u0000",
      config: { "\u0000": 1 },
      user_ids: ["\u0000"],
      content: "\u0000",
      filename: "\u0000",
      bio: "\u0000",
    }),
  ],
])("%s as a body (S117)", (_what, body) => {
  it("makes no route fail, and no answer tells of the inside", async () => {
    const bad: string[] = [];
    for (const owned of routes.filter(({ route }) => !["GET", "DELETE"].includes(route.method))) {
      const { status, text } = await probe(app.url, owned, { token, body });
      if ((status >= 500 && status !== 503) || (status >= 400 && leak.test(text))) {
        bad.push(`${nameOf(owned)}: ${status} ${text.slice(0, 200)}`);
      }
    }
    expect(bad).toEqual([]);
    expect((await app.call("GET /health")).status).toBe(200);
  });
});

describe.each([
  "x' or '1'='1",
  "%00",
  "\u0000",
  "%",
  "../../../etc/passwd",
  "${7*7}{{7*7}}",
  "-1",
  "1e400",
  "NaN",
  "a".repeat(2_000),
  "__proto__",
  "constructor",
  "🦔",
  "\ud83e",
  ";drop table file;--",
  "\\",
  "<script>alert(1)</script>",
])("%j in place of an id and of every query", (value) => {
  it("makes no route fail, and no answer tells of the inside", async () => {
    const bad: string[] = [];
    for (const owned of routes.filter(({ route }) => route.method === "GET" || route.path.includes(":"))) {
      const names = [...owned.route.path.matchAll(/:(\w+)/g)].map((found) => found[1] as string);
      if (names.length === 0 && owned.route.query === undefined) {
        continue;
      }
      const safe = value.toWellFormed();
      const params = Object.fromEntries(names.map((name) => [name, safe]));
      const query = "page query order_by direction filename skip limit content share refresh stream"
        .split(" ")
        .map((name) => `${name}=${encodeURIComponent(safe)}`)
        .join("&");
      const body = owned.route.method === "GET" ? undefined : "{}";
      for (const how of [{}, { query }]) {
        const { status, text } = await probe(app.url, owned, { token, params, body, ...how });
        const isEchoed = text.includes("<script>") && !/^[[{]/.test(text);
        if (
          (status >= 500 && status !== 503) ||
          (status >= 400 && leak.test(text.replaceAll(safe, ""))) ||
          isEchoed
        ) {
          bad.push(`${nameOf(owned)}: ${status} ${text.slice(0, 200)}`);
        }
      }
    }
    expect(bad).toEqual([]);
  });
});
