import { isDeepStrictEqual } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { OwnedRoute } from "#kernel/http/bind.ts";
import { chatClient, conversation } from "#plugins/chats/chats.fixture.ts";
import { permit } from "#plugins/workspace-tools/tools.fixture.ts";
import { createActor, actorEnvironment, type Actor, type ActorName } from "#test/support/actors.ts";
import { type App, startApp } from "#test/support/app.ts";
import { buildInterface } from "#test/support/interface.ts";
import { ownedRows, ownerless } from "#test/support/owned-rows.ts";
import { findShapeProblem, nameOf, probe, shapeOf, unknownId, routesOf } from "#test/support/probe.ts";

let app: App;
let routes: OwnedRoute[];

beforeAll(async () => {
  // The pages of the interface are routes as well; without it they would say that it is not built.
  await buildInterface();
  // Optional features are on: a switched-off route would answer 403 to everybody.
  app = await startApp({
    env: {
      METRICS_ACCESS: "token:a-token-of-the-scraper",
      ...actorEnvironment,
      ENABLE_APPS: "true",
      ENABLE_CHANNELS: "true",
      ENABLE_OPENAI_API_PASSTHROUGH: "true",
    },
  });
  routes = routesOf(app).filter(({ route }) => route.method !== "HEAD");
});

afterAll(() => app?.close());

/** A failure that the route's declaration names is an answer: a terminal that is not there for somebody is a 503. */
function hasFailed(status: number, { route }: OwnedRoute): boolean {
  return status >= 500 && !(status === 503 && route.fails?.includes(503));
}

/** The one status a route must answer this actor, or undefined where it may answer anything but 401 and 403. */
function refusalFor(actor: ActorName, { route }: OwnedRoute): 401 | 403 | undefined {
  const { access } = route;
  if (access === "public") {
    return undefined;
  }
  if (actor === "nobody" || access === "token") {
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
  expect([...kinds].toSorted()).toEqual(["account", "admin", "permission", "public", "token", "user"]);
  expect(routes.length).toBeGreaterThan(80);
});

describe("a pending account", () => {
  const own = [
    "GET /api/v1/auths",
    "GET /api/v1/auths/admin/details",
    "POST /api/v1/auths/update/password",
    "POST /api/v1/auths/update/timezone",
  ];
  // These answer each account about itself.
  const personal = ["GET /api/config", "GET /api/v1/auths/signout", "POST /api/v1/auths/signout"];

  test("may use its session, password, time zone and the contact of the administrator alone", () => {
    const names = routes.filter(({ route }) => route.access === "account").map(nameOf);
    expect(names.toSorted()).toEqual(own);
  });

  test("gets from public routes what everybody gets", async () => {
    const { token } = await app.user("pending");
    const params = { id: await shareWithMembers() };
    const different: string[] = [];
    for (const owned of routes.filter(({ route }) => route.access === "public")) {
      const [asPending, asNobody] = [
        await probe(app.url, owned, { token, params }),
        await probe(app.url, owned, { params }),
      ];
      if (!personal.includes(nameOf(owned)) && !isDeepStrictEqual(asPending, asNobody)) {
        different.push(
          `${nameOf(owned)}: ${asPending.text.slice(0, 120)} instead of ${asNobody.text.slice(0, 120)}`,
        );
      }
    }
    expect(different).toEqual([]);
    const user = await app.user();
    expect((await user.call(`GET /api/v1/chats/share/${params.id}`)).status).toBe(200);
  });
});

/** Shares a chat with everybody who may use the platform. */
async function shareWithMembers(): Promise<string> {
  const admin = chatClient(app, (await app.admin()).token);
  const { id } = await admin.make(conversation());
  const shared = await admin.call(`POST /${id}/share`);
  const access_grants = [{ principal_type: "user", principal_id: "*", permission: "read" }];
  const access = await admin.call(`POST /shared/${id}/access/update`, { access_grants });
  expect(access.body.access_grants).toHaveLength(1);
  return shared.body.share_id;
}

// Administrators come last: their calls change the instance for all others.
describe.each<ActorName>(["nobody", "pending", "user", "key", "other", "admin"])("as %s", (name) => {
  let actor: Actor;

  beforeAll(async () => {
    actor = await createActor(app, name);
  });

  test("every route answers what its access declares, and none fails", { timeout: 120_000 }, async () => {
    const wrong: string[] = [];
    for (const owned of routes) {
      const { status, text } = await probe(app.url, owned, { token: actor.token() });
      await actor.renewCredential(status);
      const refusal = refusalFor(name, owned);
      const isRight =
        refusal === undefined
          ? status !== 401 && status !== 403 && !hasFailed(status, owned)
          : status === refusal;
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

/** The routes through which members reach a row by its name in the path. */
function rowRoutes(): OwnedRoute[] {
  return routes.filter(
    ({ route }) => /[:*]/.test(route.path) && !["admin", "public", "token"].includes(route.access),
  );
}

test("every plugin that takes ids from members says whose rows they name", () => {
  const plugins = new Set(rowRoutes().map(({ plugin }) => plugin));
  expect([...plugins].toSorted()).toEqual([...Object.keys(ownedRows), ...Object.keys(ownerless)].toSorted());
});

// Promises, section 2: the same body as for an absent id.
describe.each(Object.entries(ownedRows))("somebody else's row of %s", (plugin, rows) => {
  test("is no different from one that does not exist, and stays as it was", async () => {
    const owner = await app.user();
    const other = await app.user();
    if (rows.permissions) {
      await permit(app, [owner, other], rows.permissions);
    }
    const params = await rows.make(app, owner.token);
    const before = await rows.look(app, owner.token, params);
    const ids = Object.values(params);
    const wrong: string[] = [];
    for (const owned of rowRoutes().filter((entry) => entry.plugin === plugin)) {
      const name = `${owned.route.method} ${owned.route.path}`;
      const given = rows.bodies[name];
      const query = rows.queries?.[name];
      const isGiven = owned.route.body === undefined || given !== undefined;
      const body = given === undefined ? undefined : JSON.stringify(given);
      const foreign = await probe(app.url, owned, { token: other.token, body, query, params });
      const absent = await probe(app.url, owned, {
        token: other.token,
        body,
        query,
        params: { ...params, id: unknownId },
      });
      if (!isGiven || foreign.status !== 404 || absent.status !== 404 || foreign.text !== absent.text) {
        wrong.push(
          `${nameOf(owned)} answers ${foreign.status} and ${absent.status}: ${foreign.text.slice(0, 120)}`,
        );
      }
      expect(ids.some((id) => foreign.text.includes(id))).toBe(false);
    }
    expect(wrong).toEqual([]);
    expect(await rows.look(app, owner.token, params)).toEqual(before);
  });
});

test.each([
  ["a NUL", "%00"],
  ["a broken sign", "%"],
  ["bytes that are no text", "%ff%fe"],
  ["a way up", "..%2f..%2fetc%2fpasswd"],
  ["a quote", "%27%20or%201%3D1%20--"],
  ["5,000 letters", "a".repeat(5000)],
])("a path parameter that is %s fails no route", { timeout: 120_000 }, async (_name, value) => {
  const actor = await createActor(app, "admin");
  const wrong: string[] = [];
  for (const owned of routes.filter(({ route }) => /[:*]/.test(route.path))) {
    const { status, text } = await probe(app.url, owned, { token: actor.token(), raw: value });
    const problem = hasFailed(status, owned) ? `answers ${status}` : undefined;
    const unshaped = status >= 400 ? findShapeProblem(shapeOf(owned), text) : undefined;
    if (problem ?? unshaped) {
      wrong.push(`${nameOf(owned)} ${problem ?? unshaped}`);
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
      const { status, text } = await probe(app.url, owned, { token: actor.token(), body });
      await actor.renewCredential(status);
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
      const { status } = await probe(app.url, owned, { token: actor.token(), body });
      await actor.renewCredential(status);
      if (hasFailed(status, owned)) {
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
