import { z } from "zod";
import { defineRoute } from "#kernel/http/route.ts";
import type { Automations } from "./automations.ts";
import {
  AutomationForm,
  AutomationPage,
  AutomationRecord,
  AutomationUpdate,
  IdParams,
  ListQuery,
  NextRuns,
  NextRunsQuery,
  RunRecord,
  RunsQuery,
} from "./schema.ts";

const common = { access: "permission:features.automations" } as const;
const one = { ...common, params: IdParams, returns: AutomationRecord, fails: [403, 404] } as const;
const changed = { ...one, fails: [400, 403, 404] } as const;

/** Automations (contract 9). */
export const automationRoutes = (automations: Automations) => [
  ...listRoutes(automations),
  ...recordRoutes(automations),
];

function listRoutes(automations: Automations) {
  return [
    defineRoute(
      {
        ...common,
        method: "GET",
        path: "/automations/list",
        summary: "List and search the caller's automations by page",
        query: ListQuery,
        returns: AutomationPage,
      },
      ({ caller, query }) => automations.page(caller, query),
    ),
    defineRoute(
      {
        ...common,
        method: "GET",
        path: "/automations/next-runs",
        summary: "Tell the next runs of a rule before an automation has it",
        query: NextRunsQuery,
        returns: NextRuns,
        fails: [400, 403],
      },
      ({ caller, query }) => automations.nextRuns(caller, query.rrule),
    ),
    defineRoute(
      {
        ...common,
        method: "POST",
        path: "/automations/create",
        summary: "Create an automation",
        body: AutomationForm,
        returns: AutomationRecord,
        fails: [400, 403, 404],
        idempotent: true,
      },
      ({ caller, body }) => automations.create(caller, body),
    ),
  ];
}

function recordRoutes(automations: Automations) {
  return [
    defineRoute(
      { ...one, method: "GET", path: "/automations/:id", summary: "Read an automation" },
      ({ caller, params }) => automations.get(caller, params.id),
    ),
    defineRoute(
      {
        ...changed,
        method: "POST",
        path: "/automations/:id/update",
        summary: "Change an automation",
        body: AutomationUpdate,
      },
      ({ caller, params, body }) => automations.update(caller, params.id, body),
    ),
    defineRoute(
      {
        ...changed,
        method: "POST",
        path: "/automations/:id/toggle",
        summary: "Pause or resume an automation",
      },
      ({ caller, params }) => automations.toggle(caller, params.id),
    ),
    defineRoute(
      {
        ...one,
        method: "POST",
        path: "/automations/:id/run",
        summary: "Run an automation now",
        idempotent: true,
      },
      ({ caller, params }) => automations.runNow(caller, params.id),
    ),
    defineRoute(
      {
        ...one,
        method: "DELETE",
        path: "/automations/:id/delete",
        summary: "Delete an automation with its history; its chats stay",
        returns: z.literal(true),
      },
      ({ caller, params }) => automations.remove(caller, params.id),
    ),
    defineRoute(
      {
        ...one,
        method: "GET",
        path: "/automations/:id/runs",
        summary: "List the runs of an automation that have ended, newest first",
        query: RunsQuery,
        returns: z.array(RunRecord),
      },
      ({ caller, params, query }) => automations.runs(caller, params.id, query),
    ),
  ];
}
