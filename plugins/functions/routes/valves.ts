import { defineRoute } from "#kernel/http/route.ts";
import type { FunctionValves } from "../valves/function-valves.ts";
import { IdParams, Valves, ValvesSpec } from "../schema.ts";

const params = IdParams;

/** Settings of functions: those of the instance for those who may change the function, each person's own for everybody. */
export function valveRoutes(valves: FunctionValves) {
  return [...adminRoutes(valves), ...ownRoutes(valves)];
}

function adminRoutes(valves: FunctionValves) {
  const access = "permission:workspace.functions";
  return [
    defineRoute(
      {
        method: "GET",
        path: "/functions/id/:id/valves",
        summary: "Read the saved valves of a function",
        access,
        params,
        returns: Valves,
      },
      ({ caller, params: { id } }) => valves.read(caller, id),
    ),
    defineRoute(
      {
        method: "GET",
        path: "/functions/id/:id/valves/spec",
        summary: "Read the form of a function's valves as JSON Schema; null when it has none",
        access,
        params,
        returns: ValvesSpec,
      },
      ({ caller, params: { id } }) => valves.spec(caller, id),
    ),
    defineRoute(
      {
        method: "POST",
        path: "/functions/id/:id/valves/update",
        summary: "Save the valves of a function",
        access,
        params,
        body: Valves,
        returns: Valves,
        fails: [400],
      },
      ({ caller, params: { id }, body }) => valves.update(caller, id, body),
    ),
  ];
}

function ownRoutes(valves: FunctionValves) {
  const access = "user";
  return [
    defineRoute(
      {
        method: "GET",
        path: "/functions/id/:id/valves/user",
        summary: "Read the caller's own valves of a function",
        access,
        params,
        returns: Valves,
      },
      ({ caller, params: { id } }) => valves.readUser(caller, id),
    ),
    defineRoute(
      {
        method: "GET",
        path: "/functions/id/:id/valves/user/spec",
        summary: "Read the form of a function's user valves as JSON Schema; null when it has none",
        access,
        params,
        returns: ValvesSpec,
      },
      ({ caller, params: { id } }) => valves.userSpec(caller, id),
    ),
    defineRoute(
      {
        method: "POST",
        path: "/functions/id/:id/valves/user/update",
        summary: "Save the caller's own valves of a function",
        access,
        params,
        body: Valves,
        returns: Valves,
        fails: [400],
      },
      ({ caller, params: { id }, body }) => valves.updateUser(caller, id, body),
    ),
  ];
}
