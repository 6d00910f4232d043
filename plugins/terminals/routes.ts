import { z } from "zod";
import { defineRoute } from "#kernel/http/route.ts";
import { Contexts } from "./connections/schema.ts";
import type { Terminals } from "./connections/terminals.ts";
import type { ProxyRequest } from "./proxy/proxy.ts";

const Entry = z
  .object({ id: z.string(), name: z.string(), contexts: Contexts.optional() })
  .meta({ id: "TerminalEntry" });
const Place = z.object({ id: z.string().min(1).max(200), path: z.string() });
const methods = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const;

/** Terminals of people (Core API, tools and terminals; contract §5.3). */
export function terminalRoutes(terminals: Terminals, proxy: (asked: ProxyRequest) => Promise<unknown>) {
  return [
    defineRoute(
      {
        method: "GET",
        path: "/terminals/",
        summary: "List the terminals that the caller may use",
        access: "user",
        returns: z.array(Entry),
      },
      ({ caller }) =>
        terminals
          .usable(caller)
          .map(({ id, name, contexts }) => ({ id, name, ...(contexts !== undefined && { contexts }) })),
    ),
    ...methods.map((method) =>
      defineRoute(
        {
          method,
          path: "/terminals/:id/**:path",
          summary: "Pass a request on to a terminal server",
          access: "user",
          params: Place,
          rawBody: true,
          produces: "*/*",
          fails: [400, 413, 502, 503],
        },
        ({ params, caller, request, raw }) => proxy({ id: params.id, caller, request, raw }),
      ),
    ),
  ];
}
