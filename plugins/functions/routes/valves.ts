import { defineRoute, type RouteAccess } from "#kernel/http/route.ts";
import type { CodeValves } from "../valves/code-valves.ts";
import { IdParams, Valves, ValvesSpec } from "../schema.ts";

const params = IdParams;

/** One kind of code: where its rows are found, what it is called, and who may try to set its valves. */
export interface ValveRoutes<Base extends string> {
  /** `functions` for paths below `/functions`. */
  readonly base: Base;
  readonly noun: string;
  readonly access: Exclude<RouteAccess, "public" | "token">;
}

/** Settings of code: those of the instance for those who may change it, each person's own for everybody. */
export function valveRoutes<const Base extends string>(valves: CodeValves, kind: ValveRoutes<Base>) {
  return [...sharedRoutes(valves, kind), ...ownRoutes(valves, kind)];
}

function sharedRoutes<const Base extends string>(
  valves: CodeValves,
  { base, noun, access }: ValveRoutes<Base>,
) {
  return [
    defineRoute(
      {
        method: "GET",
        path: `/${base}/id/:id/valves`,
        summary: `Read the saved valves of a ${noun}`,
        access,
        params,
        returns: Valves,
      },
      ({ caller, params: { id } }) => valves.read(caller, id),
    ),
    defineRoute(
      {
        method: "GET",
        path: `/${base}/id/:id/valves/spec`,
        summary: `Read the form of a ${noun}'s valves as JSON Schema; null when it has none`,
        access,
        params,
        returns: ValvesSpec,
      },
      ({ caller, params: { id } }) => valves.spec(caller, id),
    ),
    defineRoute(
      {
        method: "POST",
        path: `/${base}/id/:id/valves/update`,
        summary: `Save the valves of a ${noun}`,
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

function ownRoutes<const Base extends string>(valves: CodeValves, { base, noun }: ValveRoutes<Base>) {
  const access = "user";
  return [
    defineRoute(
      {
        method: "GET",
        path: `/${base}/id/:id/valves/user`,
        summary: `Read the caller's own valves of a ${noun}`,
        access,
        isSecret: true,
        params,
        returns: Valves,
      },
      ({ caller, params: { id } }) => valves.readUser(caller, id),
    ),
    defineRoute(
      {
        method: "GET",
        path: `/${base}/id/:id/valves/user/spec`,
        summary: `Read the form of a ${noun}'s user valves as JSON Schema; null when it has none`,
        access,
        params,
        returns: ValvesSpec,
      },
      ({ caller, params: { id } }) => valves.userSpec(caller, id),
    ),
    defineRoute(
      {
        method: "POST",
        path: `/${base}/id/:id/valves/user/update`,
        summary: `Save the caller's own valves of a ${noun}`,
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
