import type { IncomingMessage, ServerResponse } from "node:http";
import { H3, type H3Event } from "h3";
import { toNodeHandler } from "h3/node";
import { AppError } from "#kernel/errors.ts";
import { bindRoute, type BindContext, type OwnedRoute } from "./bind.ts";
import { answerPreflight } from "./cors.ts";
import { type AnyRoute, defineRoute } from "./route.ts";
import { watchRoute } from "./watch-route.ts";
import {
  type ErrorShape,
  hasOwnListener,
  isBelow,
  type Surface,
  type SurfaceFacts,
  surfaces,
  withoutAlias,
} from "./surfaces.ts";

/** Serves one node request. */
export type NodeHandler = (req: IncomingMessage, res: ServerResponse) => unknown;

/** Builds one application a surface, each with its own error shape; the longest base that fits a path serves it. */
export function createApplication(routes: readonly OwnedRoute[], context: BindContext): NodeHandler {
  const names = (Object.keys(surfaces) as Surface[]).filter((name) => !hasOwnListener(name));
  // The root surface goes last: it fits every path.
  const applications = names
    .toSorted((a, b) => surfaces[b].base.length - surfaces[a].base.length)
    .map((surface) => ({
      base: surfaces[surface].base,
      surface,
      serve: toNodeHandler(
        createSurface(
          surface,
          routes.filter((owned) => owned.surface === surface),
          context,
        ),
      ),
    }));
  return (req, res) => {
    if (answerPreflight(req, res, context.origins())) {
      return;
    }
    const url = context.aliases() ? withoutAlias(req.url ?? "/") : (req.url ?? "/");
    // Access rules, logs and handlers see the surface's own name, so that both names are one route to them.
    req.url = url;
    // Choosing here instead of mounting spares every request a walk through all other surfaces.
    const application = applications.find(({ base }) => isBelow(url, base));
    if (isDecodable(url)) {
      return application?.serve(req, res);
    }
    const surface = application?.surface ?? "main";
    const refusal = { ...badPath, errors: errorsAt(url, surface, routes) };
    return bindRoute(ownedByKernel(surface, refusal), context)({ req, res, params: undefined });
  };
}

/** Builds the application of one surface that has a listener of its own. */
export function createOwnApplication(
  surface: Surface,
  routes: readonly OwnedRoute[],
  context: BindContext,
): NodeHandler {
  const own = routes.filter((owned) => owned.surface === surface);
  const serve = toNodeHandler(createSurface(surface, own, context));
  return (req, res) => {
    const url = req.url ?? "/";
    return isDecodable(url)
      ? serve(req, res)
      : bindRoute(ownedByKernel(surface, badPath), context)({ req, res, params: undefined });
  };
}

/** The shape in which a route would tell its errors, for a path that cannot be matched with routes. */
function errorsAt(url: string, surface: Surface, routes: readonly OwnedRoute[]): ErrorShape {
  const { base, errors, inner }: SurfaceFacts = surfaces[surface];
  const owned = routes.find(
    ({ surface: own, route: { path } }) =>
      own === surface && path.includes("/:") && url.startsWith(base + path.slice(0, path.indexOf(":"))),
  );
  const isInner = inner !== undefined && isBelow(url, base + inner.base);
  return owned?.route.errors ?? (isInner ? inner.errors : errors);
}

/** The router would answer broken percent signs itself, in a shape of its own. */
function isDecodable(url: string): boolean {
  if (!url.includes("%")) {
    return true;
  }
  try {
    decodeURIComponent(url.split("?", 1)[0] as string);
    return true;
  } catch {
    return false;
  }
}

function createSurface(surface: Surface, routes: readonly OwnedRoute[], context: BindContext): H3 {
  const app = new H3({ silent: true });
  const { base, inner }: SurfaceFacts = surfaces[surface];
  const methods = new Map<string, Set<string>>();
  for (const owned of routes) {
    const { method, path } = owned.route;
    const known = methods.get(path) ?? new Set();
    if (known.has(method)) {
      throw new Error(`Two plugins register ${method} ${base}${path}; one of them is ${owned.plugin}.`);
    }
    // A surface's catch-all route leaves other methods to the 404 below.
    if (!path.startsWith("/**")) {
      methods.set(path, known.add(method));
    }
    const handle = toEventHandler(watchRoute(owned, bindRoute(owned, context)));
    app.on(method, base + path, handle);
    if (method === "GET") {
      app.on("HEAD", base + path, handle);
    }
  }
  for (const [path, allowed] of methods) {
    const errors = routes.find(({ route }) => route.path === path)?.route.errors;
    const refusal = { ...methodNotAllowed(allowed), ...(errors && { errors }) };
    app.all(base + path, toEventHandler(bindRoute(ownedByKernel(surface, refusal), context)));
  }
  if (inner) {
    const refusal = { ...notFound, errors: inner.errors };
    app.all(`${base}${inner.base}/**`, toEventHandler(bindRoute(ownedByKernel(surface, refusal), context)));
  }
  app.all(`${base}/**`, toEventHandler(bindRoute(ownedByKernel(surface, notFound), context)));
  return app;
}

function toEventHandler(serve: ReturnType<typeof bindRoute>) {
  return (event: H3Event): Promise<never> => {
    const node = event.runtime?.node as { req: IncomingMessage; res: ServerResponse };
    void serve({ req: node.req, res: node.res, params: event.context.params });
    // Never settled: whatever h3 made of a value would be written to a response that is not its own.
    return new Promise<never>(() => {});
  };
}

const notFound = defineRoute(
  { method: "GET", path: "/**", summary: "Not found", access: "public", hidden: true },
  () => {
    throw new AppError("not_found", "Not found");
  },
);

const badPath = defineRoute(
  { method: "GET", path: "/**", summary: "Bad path", access: "public", hidden: true },
  () => {
    throw new AppError("invalid", "The path is not validly encoded.");
  },
);

function methodNotAllowed(allowed: ReadonlySet<string>): AnyRoute {
  const allow = [...allowed].toSorted().join(", ");
  return defineRoute(
    { method: "GET", path: "/**", summary: "Method not allowed", access: "public", hidden: true },
    () => {
      throw new AppError("method_not_allowed", `This path answers ${allow}.`, { headers: { allow } });
    },
  );
}

function ownedByKernel(surface: Surface, route: AnyRoute): OwnedRoute {
  return { plugin: "kernel", surface, route, isEnabled: () => true, whenOff: 404 };
}
