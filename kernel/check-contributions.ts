import type { OwnedRoute } from "./http/bind.ts";
import type { AnyRoute } from "./http/route.ts";
import { hasOwnListener, type Surface, surfaces } from "./http/surfaces.ts";
import { BootError } from "./order.ts";
import type { AnyPlugin, Contributions } from "./plugin.ts";

const kinds = new Set<string>([
  "routes",
  "filters",
  "tools",
  "providers",
  "jobs",
  "sockets",
  "services",
  "fills",
  "resources",
  "start",
  "drain",
  "stop",
] satisfies (keyof Contributions)[]);

/** Contributions of the plugins before this one. */
export interface Taken {
  readonly routes: readonly Pick<OwnedRoute, "plugin" | "surface" | "route">[];
  readonly filters: readonly { readonly entry: Identified }[];
  readonly tools: readonly { readonly entry: Identified }[];
  readonly providers: readonly { readonly provider: Identified }[];
  readonly jobs: readonly { readonly job: Identified }[];
  readonly sockets: readonly { readonly plugin: string; readonly event: string }[];
}

interface Identified {
  readonly id: string;
}

/**
 * Refuses contributions that would fail later, be ignored or displace another plugin's, before any of them is taken
 * in. Throws BootError whose text follows the words "the plugin … could not be set up:".
 */
export function requireContributions(plugin: AnyPlugin, contributions: Contributions, taken: Taken): void {
  for (const problem of problemsOf(plugin, contributions, taken)) {
    throw new BootError(problem);
  }
}

function* problemsOf(plugin: AnyPlugin, contributions: Contributions, taken: Taken): Generator<string> {
  if (typeof contributions !== "object" || contributions === null) {
    yield "setup must return its contributions, an empty object when there are none";
  }
  const unknown = Object.keys(contributions).find((name) => !kinds.has(name));
  if (unknown !== undefined) {
    yield `setup returned "${unknown}", which is no kind of contribution; the kinds are ${[...kinds].join(", ")}`;
  }
  for (const kind of ["filters", "tools", "providers", "jobs", "services", "fills"] as const) {
    if (contributions[kind] !== undefined && !Array.isArray(contributions[kind])) {
      yield `setup returned "${kind}" that is no list`;
    }
  }
  yield* routeProblems(plugin, contributions, taken);
  yield* socketProblems(contributions, taken);
  yield* serviceProblems(plugin, contributions);
  for (const [type, find] of Object.entries(contributions.resources ?? {})) {
    if (typeof find !== "function" || !(plugin.resources ?? []).includes(type)) {
      yield `resources.${type} must be a function that finds existing ids, and the type be named in the declaration's resources`;
    }
  }
  yield* entryProblems(contributions, taken);
}

function* routeProblems(plugin: AnyPlugin, { routes = {} }: Contributions, taken: Taken): Generator<string> {
  const seen = new Map(taken.routes.map((owned) => [keyOf(owned.surface, owned.route), owned.plugin]));
  for (const [surface, list] of Object.entries(routes) as [Surface, readonly AnyRoute[]][]) {
    if (!Object.hasOwn(surfaces, surface) || !Array.isArray(list)) {
      yield `setup returned routes for ${JSON.stringify(surface)}: write routes: { api: [ … ] }; the surfaces are ${Object.keys(surfaces).join(", ")}`;
    }
    for (const route of list) {
      const key = keyOf(surface, route);
      const problem = routeProblem(route, surface);
      if (problem) {
        yield `the route ${key} ${problem}`;
      }
      const other = seen.get(key);
      if (other !== undefined) {
        yield other === plugin.id
          ? `it declares the route ${key} twice`
          : `the plugin ${other} has the route ${key} already`;
      }
      seen.set(key, plugin.id);
    }
  }
}

function routeProblem(route: AnyRoute, surface: Surface): string | undefined {
  const { base } = surfaces[surface];
  if (typeof route?.handle !== "function") {
    return "has no handler: declare it with defineRoute(declaration, handler)";
  }
  if (!/^(GET|HEAD|POST|PUT|PATCH|DELETE)$/.test(route.method)) {
    return "needs a method: GET, HEAD, POST, PUT, PATCH or DELETE";
  }
  if (typeof route.path !== "string" || !route.path.startsWith("/")) {
    return "needs a path that begins with a slash";
  }
  if (base !== "" && isBelow(route.path, base)) {
    return `repeats its surface's base: leave ${base} out of the path`;
  }
  const answering = hasOwnListener(surface)
    ? surface
    : byDepth.find((name) => isBelow(base + route.path, surfaces[name].base));
  if (answering !== surface) {
    return `would never be asked: ${answering} answers below ${surfaces[answering ?? surface].base}; return it as routes.${answering}`;
  }
  if (
    !/^(public|token|account|user|admin|permission:[a-z][a-z0-9_]*\.[a-z][a-z0-9_]*)$/.test(
      String(route.access),
    )
  ) {
    return `must say who may call it; access is ${JSON.stringify(route.access)}, not public, token, account, user, admin or "permission:section.key"`;
  }
  return undefined;
}

/** A path is answered by the surface with the longest base that fits; the root surface takes the rest. */
const byDepth = (Object.keys(surfaces) as Surface[])
  .filter((name) => !hasOwnListener(name))
  .toSorted((a, b) => surfaces[b].base.length - surfaces[a].base.length);

function isBelow(path: string, base: string): boolean {
  return `${path}/`.startsWith(`${base}/`);
}

function keyOf(surface: Surface, route: AnyRoute): string {
  // `/:id` and `/:name` are one path to the router.
  const path = String(route?.path).replaceAll(/:\w+/g, ":…");
  const own = Object.hasOwn(surfaces, surface) && hasOwnListener(surface) ? `${surface}:` : "";
  return `${route?.method} ${own}${surfaces[surface]?.base ?? ""}${path}`;
}

function* socketProblems({ sockets = {} }: Contributions, taken: Taken): Generator<string> {
  if (typeof sockets !== "object" || sockets === null || Array.isArray(sockets)) {
    yield 'setup returned "sockets" that is no object: write sockets: { "event-name": defineSocketHandler(…) }';
    return;
  }
  for (const [event, handler] of Object.entries(sockets)) {
    if (!/^[a-z][\w:.-]{0,99}$/i.test(event) || reservedEvents.has(event)) {
      yield `the socket event ${JSON.stringify(event)} needs another name: letters, digits, : . _ and - that no client library keeps for itself`;
    }
    if (typeof handler?.handle !== "function") {
      yield `the socket event ${event} has no handler: declare it with defineSocketHandler`;
    }
    const other = taken.sockets.find((owned) => owned.event === event);
    if (other !== undefined) {
      yield `the plugin ${other.plugin} handles the socket event ${event} already`;
    }
  }
}

/** Client libraries refuse to send these. */
const reservedEvents = new Set([
  "connect",
  "connect_error",
  "disconnect",
  "disconnecting",
  "newListener",
  "removeListener",
]);

function* serviceProblems(
  plugin: AnyPlugin,
  { services = [], fills = [] }: Contributions,
): Generator<string> {
  const declared = new Set((plugin.provides ?? []).map(({ id }) => id));
  const handed = new Set(services.map((entry) => entry?.ref?.id));
  for (const id of handed) {
    if (id === undefined || !declared.has(id)) {
      yield `it hands over the service ${id} without declaring it: add the ref to provides`;
    }
  }
  for (const id of declared) {
    if (!handed.has(id)) {
      yield `it declares the service ${id} in provides but does not hand it over: return services: [provide(ref, value)]`;
    }
  }
  if (fills.some((entry) => entry?.slot?.kind !== "slot")) {
    yield "its fills must be made with fill(slot, value)";
  }
}

function* entryProblems(contributions: Contributions, taken: Taken): Generator<string> {
  const { filters = [], tools = [], providers = [], jobs = [] } = contributions;
  yield* idProblems(
    "filter",
    filters,
    taken.filters.map(({ entry }) => entry.id),
  );
  yield* idProblems(
    "tool",
    tools,
    taken.tools.map(({ entry }) => entry.id),
  );
  yield* idProblems(
    "provider",
    providers,
    taken.providers.map(({ provider }) => provider.id),
  );
  yield* idProblems(
    "job",
    jobs,
    taken.jobs.map(({ job }) => job.id),
  );
  for (const filter of filters) {
    if (!("select" in filter) && !Number.isFinite(filter.priority)) {
      yield `the filter ${filter.id} needs a number as its priority`;
    }
  }
  for (const tool of tools) {
    if (
      !("select" in tool) &&
      (typeof tool.run !== "function" || !/^[\w-]{1,64}$/.test(tool.spec?.name ?? ""))
    ) {
      yield `the tool ${tool.id} needs a run function and a spec whose name is letters, digits, _ and -`;
    }
  }
  for (const provider of providers) {
    if (typeof provider.models !== "function" || typeof provider.complete !== "function") {
      yield `the provider ${provider.id} needs the functions models and complete`;
    }
  }
  for (const { id, run, every } of jobs) {
    const isPaced =
      every === undefined || typeof every === "function" || (Number.isFinite(every) && every >= 1);
    if (typeof run !== "function" || !isPaced) {
      yield `the job ${id} needs a run function and, when it is scheduled, a number of seconds from 1 on in every`;
    }
  }
}

function* idProblems(
  kind: string,
  entries: readonly Identified[],
  known: readonly string[],
): Generator<string> {
  const seen = new Set(known);
  for (const entry of entries) {
    if (typeof entry?.id !== "string" || !/^[\w./-]{1,200}$/.test(entry.id)) {
      yield `a ${kind} has no usable id: letters, digits, dots, slashes, _ and - are, as in "almanac.sweep"`;
    }
    if (seen.has(entry.id)) {
      yield `there is a ${kind} with the id ${entry.id} already; begin ids with the plugin's own`;
    }
    seen.add(entry.id);
  }
}
