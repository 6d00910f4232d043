import { describe, expect, test } from "vitest";
import { z } from "zod";
import { requireContributions } from "./check-contributions.ts";
import { requireDeclaration } from "./check-declaration.ts";
import { createGathered } from "./gathered.ts";
import { defineRoute } from "./http/route.ts";
import { orderPlugins } from "./order.ts";
import { type AnyPlugin, type Contributions, definePlugin } from "./plugin.ts";
import { defineService, defineSlot, optional, provide } from "./service.ts";
import { defineSocketHandler } from "./sockets/handler.ts";

const clock = defineService<{ now(): number }>("tick.clock");
const sound = { id: "tick", title: "Tick", setup: () => ({}) };
const up = async () => {};
const page = { id: "tick", path: "/tick", title: "Tick", place: "main", access: "user" } as const;
const withPage = (more: object) => ({ ...sound, pages: [{ ...page, ...more }] });

describe("a declaration is refused in words that name the mistake when it", () => {
  test.each<[string, object | undefined, RegExp]>([
    ["is not there", undefined, /no default export made with definePlugin/],
    ["has a name for people as its id", { ...sound, id: "My Tick" }, /its id "My Tick" must be lower-case/],
    ["has no id", { title: "Tick", setup: sound.setup }, /its id undefined must be/],
    ["has an id of the platform", { ...sound, id: "core" }, /its id "core" is kept for the platform/],
    ["has no title", { id: "tick", setup: sound.setup }, /has no title/],
    ["has no setup", { id: "tick", title: "Tick" }, /has no setup function/],
    ["misspells a field", { ...sound, provide: [clock] }, /declares "provide", .* the fields are .*provides/],
    ["uses what is no ref", { ...sound, uses: { clock: undefined } }, /uses\.clock is undefined: name a ref/],
    ["provides a single ref", { ...sound, provides: clock }, /provides must be a list of refs/],
    [
      "declares a bare value as a setting",
      { ...sound, config: { on: true } },
      /config\.on is true: declare it with bool/,
    ],
    ["lists its tables bare", { ...sound, tables: ["tick"] }, /tables must be named with tables</],
    [
      "names a migration freely",
      { ...sound, migrations: { first: { up } } },
      /"first" must be named like 0001_what_it_does/,
    ],
    [
      "has a migration that does nothing",
      { ...sound, migrations: { "0001_tick": up } },
      /"0001_tick" has no up function/,
    ],
    [
      "names a permission without a section",
      { ...sound, permissions: [{ path: "tick", default: true }] },
      /the permission .* must look like/,
    ],
    [
      "gives a permission as a text",
      { ...sound, permissions: ["features.tick"] },
      /the permission "features.tick" must look like/,
    ],
    ["declares a single page", { ...sound, pages: page }, /pages must be a list of/],
    ["lists a page by its id", { ...sound, pages: ["tick"] }, /pages must be a list of .* it holds "tick"/],
    [
      "gives a page another plugin's id",
      withPage({ id: "tock" }),
      /its page "tock" must have the id "tick" or one that begins with "tick\."/,
    ],
    [
      "gives a page a path out of its module's name",
      withPage({ id: "tick./../x" }),
      /its page "tick.\/..\/x" must have the id/,
    ],
    [
      "gives a page no path",
      withPage({ path: "tick" }),
      /its page "tick" has the path "tick": write lower-case segments/,
    ],
    [
      "gives a page a path of the platform",
      withPage({ path: "/api/tick" }),
      /its page "tick" has the path \/api\/tick, which the platform answers itself/,
    ],
    [
      "names the first segment of a page",
      withPage({ path: "/:tick" }),
      /its page "tick" has the path "\/:tick": write lower-case segments/,
    ],
    [
      "names two segments of a page alike",
      withPage({ path: "/tick/:id/:id", place: "hidden" }),
      /its page "tick" has the path \/tick\/:id\/:id, which names two segments alike/,
    ],
    [
      "links a page that needs an id",
      withPage({ path: "/tick/:id" }),
      /its page "tick" has the path \/tick\/:id and the place main/,
    ],
    ["gives a page no title", withPage({ title: " " }), /its page "tick" has no title/],
    [
      "puts a page in a place that is none",
      withPage({ place: "sidebar" }),
      /its page "tick" has the place "sidebar"; the places are main, workspace, settings, admin, hidden/,
    ],
    [
      "orders a page by a word",
      withPage({ order: "first" }),
      /its page "tick" has the order "first", which is no number/,
    ],
    [
      "opens a page to a role that is none",
      withPage({ access: "guest" }),
      /its page "tick" must say who may open it; access is "guest"/,
    ],
    [
      "declares a page twice",
      { ...sound, pages: [page, { ...page, path: "/tock" }] },
      /its page "tick" is declared twice/,
    ],
    [
      "gives two pages one path",
      { ...sound, pages: [page, { ...page, id: "tick.list" }] },
      /its page "tick.list" has the path \/tick, as its page "tick" does/,
    ],
    [
      "gives two pages paths that differ in names alone",
      {
        ...sound,
        pages: [
          { ...page, path: "/tick/:id", place: "hidden" },
          { ...page, id: "tick.list", path: "/tick/:name", place: "hidden" },
        ],
      },
      /its page "tick.list" has the path \/tick\/:name, as its page "tick" does/,
    ],
    ["has a switch that is no function", { ...sound, enabled: true }, /`enabled` must be a function/],
    ["answers 200 while off", { ...sound, whenOff: 200 }, /whenOff 200 must be 401, 403, 404 or 503/],
  ])("%s", (_name, plugin, message) => {
    expect(() => requireDeclaration(plugin as AnyPlugin)).toThrow(message);
  });

  test("and accepted when nothing is wrong", () => {
    const slot = defineSlot<string>("tick.words");
    const plugin = definePlugin({
      ...sound,
      uses: { clock: optional(clock), slot },
      migrations: { "0001_tick": { up } },
      permissions: [{ path: "features.tick", default: false }],
      resources: ["tick"],
      pages: [page, { ...page, id: "tick.late-2", path: "/tick/late", icon: "clock", order: -1 }],
    });
    expect(() => requireDeclaration(plugin)).not.toThrow();
  });
});

const route = defineRoute(
  { method: "GET", path: "/tick", summary: "Tick", access: "user", returns: z.string() },
  () => "tick",
);
const tool = {
  id: "tick.now",
  spec: { name: "now", description: "Now", parameters: {} },
  run: async () => 0,
};
const withRoute = (more: object) => ({ routes: { api: [{ ...route, ...more }] } });

describe("contributions are refused in words that name the mistake when", () => {
  test.each<[string, unknown, RegExp]>([
    ["setup returns nothing", undefined, /setup must return its contributions/],
    ["a kind is misspelt", { route: [route] }, /setup returned "route", which is no kind .* routes,/],
    ["routes lack their surface", { routes: [route] }, /routes for "0": write routes: \{ api: /],
    ["a surface does not exist", { routes: { v1: [route] } }, /routes for "v1": .* main, api,/],
    [
      "a route is declared twice",
      { routes: { api: [route, route] } },
      /declares the route GET \/api\/v1\/tick twice/,
    ],
    [
      "a route is another plugin's",
      withRoute({ path: "/taken/:name" }),
      /the plugin other has the route GET \/api\/v1\/taken\/:… already/,
    ],
    [
      "a route says not who may call it",
      withRoute({ access: undefined }),
      /GET \/api\/v1\/tick must say who may call it/,
    ],
    [
      "a route asks for a permission without a section",
      withRoute({ access: "permission:tick" }),
      /access is "permission:tick"/,
    ],
    ["a route repeats the base", withRoute({ path: "/api/v1/tick" }), /leave \/api\/v1 out of the path/],
    [
      "a route lies below another surface",
      { routes: { main: [{ ...route, path: "/api/v1/tick" }] } },
      /would never be asked: api answers below/,
    ],
    [
      "a route has no handler",
      { routes: { api: [{ method: "GET", path: "/tick", access: "user" }] } },
      /has no handler/,
    ],
    ["a method is written small", withRoute({ method: "get" }), /needs a method: GET/],
    ["a path has no slash", withRoute({ path: "tick" }), /path that begins with a slash/],
    [
      "a declared service is kept back",
      { services: [] },
      /declares the service tick.clock in provides but does not hand it over/,
    ],
    [
      "a service was not declared",
      { services: [provide(clock, { now: Date.now }), provide(defineService("authenticator"), {})] },
      /hands over the service authenticator without declaring it/,
    ],
    ["two tools share an id", { tools: [tool, tool] }, /there is a tool with the id tick.now already/],
    [
      "a tool's name is a sentence",
      { tools: [{ ...tool, spec: { ...tool.spec, name: "the time" } }] },
      /the tool tick.now needs a run function and a spec/,
    ],
    [
      "a job has another plugin's id",
      { jobs: [{ id: "other.sweep", run: up }] },
      /there is a job with the id other.sweep already/,
    ],
    [
      "a job is scheduled by words",
      { jobs: [{ id: "tick.daily", every: "1d", run: up }] },
      /the job tick.daily needs .* a number of seconds/,
    ],
    [
      "a filter has no place in the order",
      { filters: [{ id: "tick.late", name: "Late" }] },
      /the filter tick.late needs a number as its priority/,
    ],
    [
      "a provider cannot answer",
      { providers: [{ id: "tick", models: up }] },
      /the provider tick needs the functions models and complete/,
    ],
    ["sockets are a list", { sockets: [] }, /"sockets" that is no object/],
    [
      "a socket event has another plugin",
      { sockets: { "other:event": defineSocketHandler({}, up) } },
      /the plugin other handles the socket event other:event already/,
    ],
    [
      "a socket event has a name of client libraries",
      { sockets: { disconnect: defineSocketHandler({}, up) } },
      /the socket event "disconnect" needs another name/,
    ],
    ["a socket event has no handler", { sockets: { tick: {} } }, /the socket event tick has no handler/],
    ["something is no list", { jobs: {} }, /setup returned "jobs" that is no list/],
  ])("%s", (_name, contributions, message) => {
    const taken = createGathered();
    const isEnabled = () => true;
    const others = { ...route, path: "/taken/:id" as const };
    taken.routes.push({ plugin: "other", surface: "api", route: others, isEnabled, whenOff: 403 });
    taken.jobs.push({ plugin: "other", job: { id: "other.sweep", run: up }, isEnabled });
    const handler = defineSocketHandler({}, up);
    taken.sockets.push({ plugin: "other", event: "other:event", handler, isEnabled });
    const plugin = definePlugin({ ...sound, provides: [clock] });
    const withClock = { services: [provide(clock, { now: Date.now })], ...(contributions as Contributions) };
    const given = contributions === undefined ? undefined : withClock;
    expect(() => requireContributions(plugin, given as Contributions, taken)).toThrow(message);
  });
});

describe("plugins that do not fit together stop the start in words that name them when", () => {
  const provider = definePlugin({ ...sound, id: "clocks", provides: [clock] });
  const user = definePlugin({ ...sound, uses: { clock } });

  test("a service is missing", () => {
    expect(() => orderPlugins([user], new Set())).toThrow(
      /The plugin tick needs the service tick.clock, which no plugin provides/,
    );
  });

  test("its provider is left out", () => {
    expect(() => orderPlugins([user], new Set(), [provider])).toThrow(
      /which clocks provides: take clocks out of PLUGINS_DISABLED/,
    );
  });

  test("two provide one service", () => {
    const second = definePlugin({ ...sound, id: "watches", provides: [clock] });
    expect(() => orderPlugins([provider, second], new Set())).toThrow(/provided by both clocks and watches/);
  });

  test("they need each other", () => {
    const other = defineService("other");
    const [a, b] = [
      definePlugin({ ...sound, id: "a", uses: { other }, provides: [clock] }),
      definePlugin({ ...sound, id: "b", uses: { clock }, provides: [other] }),
    ];
    expect(() => orderPlugins([a, b], new Set())).toThrow(/in a circle: a → b → a/);
  });
});
