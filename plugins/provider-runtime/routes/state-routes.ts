import { defineRoute } from "#kernel/http/route.ts";
import { waitForLists } from "#kernel/upstream/endpoint-form.ts";
import { EndpointStateQuery, EndpointStates } from "#kernel/upstream/endpoint-state.ts";
import type { Backends } from "../backends/backends.ts";

/** How the backends fare, for administrators. */
export function stateRoutes(backends: Pick<Backends, "models" | "states">) {
  return [
    defineRoute(
      {
        method: "GET",
        path: "/configs/connections/runtime",
        summary: "Tell how the backends of the local runtime fare and what they hold",
        access: "admin",
        query: EndpointStateQuery,
        returns: EndpointStates,
        alwaysOn: true,
      },
      async ({ query }) => {
        await waitForLists(backends.models({ refresh: query.refresh }));
        return { data: backends.states() };
      },
    ),
  ] as const;
}
