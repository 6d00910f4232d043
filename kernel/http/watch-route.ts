import { watched } from "#kernel/work.ts";
import type { Exchange, OwnedRoute } from "./bind.ts";
import { surfaces } from "./surfaces.ts";

/** Lets telemetry see the requests of a route; those of probes say nothing. */
export function watchRoute(
  { route, surface, plugin }: OwnedRoute,
  serve: (exchange: Exchange) => Promise<void>,
): (exchange: Exchange) => Promise<void> {
  if (route.isProbe) {
    return serve;
  }
  const work = { kind: "request", name: `${route.method} ${surfaces[surface].base}${route.path}` } as const;
  const facts = { plugin };
  return (exchange) =>
    watched(
      () => ({ ...work, facts }),
      () => serve(exchange),
      () => exchange.res.statusCode,
    );
}
