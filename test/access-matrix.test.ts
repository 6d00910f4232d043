import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { OwnedRoute } from "#kernel/http/bind.ts";
import { createActor, actorEnvironment, type Actor, type ActorName } from "./support/actors.ts";
import { type App, startApp } from "./support/app.ts";
import { findShapeProblem, nameOf, probe, shapeOf } from "./support/probe.ts";

let app: App;
let routes: OwnedRoute[];

beforeAll(async () => {
  // What an operator can switch on is on: a switch that is off must not hide who may come in.
  app = await startApp({ env: { ...actorEnvironment, ENABLE_OPENAI_API_PASSTHROUGH: "true" } });
  routes = app.running.gathered.routes.filter(({ route }) => route.method !== "HEAD");
});

afterAll(() => app?.close());

/** The one status a route must answer this actor, or undefined where it may answer anything but 401 and 403. */
function refusalFor(actor: ActorName, { route }: OwnedRoute): 401 | 403 | undefined {
  const { access } = route;
  if (access === "public") {
    return undefined;
  }
  if (actor === "nobody") {
    return 401;
  }
  if (access === "account" || actor === "admin") {
    return undefined;
  }
  if (actor === "pending" || access === "admin") {
    return 403;
  }
  return access.startsWith("permission:") && !isAllowedByDefault(access.slice("permission:".length))
    ? 403
    : undefined;
}

function isAllowedByDefault(path: string): boolean {
  const declared = app.running.gathered.plugins.flatMap(({ plugin }) => plugin.permissions ?? []);
  const found = declared.find((permission) => permission.path === path);
  if (found === undefined) {
    throw new Error(`No plugin declares the permission ${path}.`);
  }
  return found.default;
}

test("there are routes of every kind of access to hold against the rules", () => {
  const kinds = new Set(routes.map(({ route }) => route.access.split(":")[0]));
  expect([...kinds].toSorted()).toEqual(["account", "admin", "permission", "public", "user"]);
  expect(routes.length).toBeGreaterThan(80);
});

// Administrators come last: what they may do can change the instance for everybody else.
describe.each<ActorName>(["nobody", "pending", "user", "key", "other", "admin"])("as %s", (name) => {
  let actor: Actor;

  beforeAll(async () => {
    actor = await createActor(app, name);
  });

  test("every route answers what its access declares, and none fails", { timeout: 120_000 }, async () => {
    const wrong: string[] = [];
    for (const owned of routes) {
      await actor.revive();
      const { status, text } = await probe(app.url, owned, { token: actor.token() });
      const refusal = refusalFor(name, owned);
      const isRight =
        refusal === undefined ? status !== 401 && status !== 403 && status < 500 : status === refusal;
      if (!isRight) {
        wrong.push(`${nameOf(owned)} (${owned.route.access}) answers ${status}: ${text.slice(0, 120)}`);
      }
    }
    expect(wrong).toEqual([]);
  });
});

test("a credential that nobody issued opens nothing", async () => {
  const wrong: string[] = [];
  for (const token of ["sk-00000000000000000000000000000000", "not.a.token"]) {
    for (const owned of routes.filter(({ route }) => route.access !== "public")) {
      const { status } = await probe(app.url, owned, { token });
      if (status !== 401) {
        wrong.push(`${nameOf(owned)} answers ${status} to ${token}`);
      }
    }
  }
  expect(wrong).toEqual([]);
});

test("every refusal has its surface's shape", async () => {
  const wrong: string[] = [];
  for (const owned of routes.filter(({ route }) => route.access !== "public")) {
    const { text } = await probe(app.url, owned, {});
    const problem = findShapeProblem(shapeOf(owned), text);
    if (problem) {
      wrong.push(`${nameOf(owned)} ${problem}`);
    }
  }
  expect(wrong).toEqual([]);
});

// Promise S117.
describe.each([
  ["null", "null"],
  ["a list", "[]"],
  ["a text", '"x"'],
  ["a number", "1"],
  ["broken JSON", '{"a":'],
  ["no JSON at all", "a=1&b=2"],
  ["deep nesting", `${"[".repeat(100_000)}${"]".repeat(100_000)}`],
  ["a prototype", '{"__proto__": {"role": "admin"}}'],
  ["a hidden prototype", String.raw`{"a": {"\u005f_proto__": {"role": "admin"}}}`],
  ["a NUL", "\0"],
  ["nothing", undefined],
])("a body that is %s", (_name, body) => {
  test("is refused in the surface's shape by every route that reads one", { timeout: 120_000 }, async () => {
    const actor = await createActor(app, "admin");
    const wrong: string[] = [];
    for (const owned of routes.filter(({ route }) => route.body !== undefined || route.upload === true)) {
      if (body === undefined && owned.route.bodyOptional === true) {
        continue;
      }
      await actor.revive();
      const { status, text } = await probe(app.url, owned, { token: actor.token(), body });
      const problem =
        status >= 400 && status < 500 ? findShapeProblem(shapeOf(owned), text) : `answers ${status}`;
      if (problem) {
        wrong.push(`${nameOf(owned)} ${problem}`);
      }
    }
    expect(wrong).toEqual([]);
  });

  test("fails no route that reads none", { timeout: 120_000 }, async () => {
    const actor = await createActor(app, "admin");
    const wrong: string[] = [];
    const others = routes.filter(
      ({ route }) => route.method !== "GET" && route.body === undefined && route.upload !== true,
    );
    for (const owned of others) {
      await actor.revive();
      const { status } = await probe(app.url, owned, { token: actor.token(), body });
      if (status >= 500) {
        wrong.push(`${nameOf(owned)} answers ${status}`);
      }
    }
    expect(wrong).toEqual([]);
  });
});

test("the app lives after all of that", async () => {
  expect((await app.call("GET /health")).status).toBe(200);
  expect((await app.call("GET /health/db")).status).toBe(200);
});
