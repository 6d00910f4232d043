import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { OwnedRoute } from "#kernel/http/bind.ts";
import { type App, callServer, startApp } from "#test/support/app.ts";
import { nameOf } from "#test/support/probe.ts";
import { removedRoutes, specifiedRoutes } from "./routes.fixture.ts";

/** Stands for the address of the workspace gateway, which has a listener of its own. */
const gateway = "{gateway}";

let app: App;
let owners: Map<string, OwnedRoute>;

beforeAll(async () => {
  app = await startApp({ env: { ENABLE_GATEWAY: "true", GATEWAY_PORT: "0" } });
  const { routes } = app.running.gathered;
  owners = new Map(routes.map((owned) => [normalise(nameOf(owned)), owned]));
});

afterAll(() => app?.close());

const present = specifiedRoutes.filter(({ owner }) => owner !== "not yet");
const missing = specifiedRoutes.filter(({ owner }) => owner === "not yet");

test("the fixture names every route once", () => {
  const names = specifiedRoutes.map(({ name }) => normalise(name));
  expect(names.length).toBe(68);
  expect(new Set(names).size).toBe(names.length);
});

describe("a specified route is offered", () => {
  test.each(present.map(({ name, owner }) => [name, owner] as const))("%s by %s", async (name, owner) => {
    expect(owners.get(normalise(name))?.plugin).toBe(owner);
    // Declared is not enough: another route or surface may stand before it.
    const [method, path] = name.split(" ", 2) as [string, string];
    const isOfGateway = path.startsWith(gateway);
    const admin = await app.admin();
    const url = isOfGateway ? (await admin.call("GET /api/v1/gateway/state")).body.url : app.url;
    const place = path.replace(gateway, "").replaceAll(/\{\w+\}/g, "unknown");
    const answer = await callServer(url, `${method} ${place}`);
    expect([404, 405]).not.toContain(answer.status);
  });
});

describe("a specified route is for whom the document says", () => {
  test.each(present.map(({ name, access }) => [name, access ?? "a credential"] as const))(
    "%s: %s",
    (name, access) => {
      const declared = owners.get(normalise(name))?.route.access;
      expect(access === "a credential" ? declared !== "public" : declared === access, declared).toBe(true);
    },
  );
});

// When one of these fails, its route has come: name its owner in the fixture.
test("a route that is not yet there is really not there", () => {
  expect(missing.filter(({ name }) => owners.has(normalise(name)))).toEqual([]);
});

test.each(removedRoutes)("%s is gone", async (name) => {
  const admin = await app.admin();
  expect((await admin.call(name, {})).status).toBe(404);
});

test("every declared route stands in docs/routes.md", async () => {
  const page = await readFile(new URL("../../docs/routes.md", import.meta.url), "utf8");
  const absent = app.running.gathered.routes
    // Files of the viewer, which the pages name.
    .filter(({ plugin, route }) => plugin !== "docs" || !route.path.startsWith("/docs/"))
    // The page of the kit, which development alone has.
    .filter(({ plugin, route }) => plugin !== "web" || route.path !== "/kit")
    // Methods that a surface refuses itself.
    .filter(({ route }) => route.access !== "token" || route.hidden !== true)
    .map((owned) => nameOf(owned).split(" ", 2) as [string, string])
    .filter(([method, path]) => !page.includes(`| ${method} | \`${path}\` |`));
  expect(absent).toEqual([]);
});

/** Names of parameters and a last slash make no difference. */
function normalise(name: string): string {
  return name
    .replace(gateway, "")
    .replaceAll(/\{\w+\}|:\w+/g, "{}")
    .replace(/(?<=.)\/$/, "");
}
