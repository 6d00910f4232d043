import { z } from "zod";
import { defineRoute } from "#kernel/http/route.ts";
import type { AccountSummary } from "#plugins/accounts/service.ts";
import type { Library } from "../library/library.ts";
import { toFullRecord } from "../library/record.ts";
import {
  ApprovalForm,
  FunctionExport,
  FunctionForm,
  FunctionItem,
  FunctionRecord,
  FunctionUpdate,
  GroupsForm,
  IdParams,
  LoadUrl,
  Ordered,
  OrderForm,
  OwnedFunctionItem,
  SyncForm,
} from "../schema.ts";
import type { Order } from "../library/order.ts";
import type { Transfer } from "../library/transfer.ts";

export interface LibraryRoutesParts {
  readonly library: Library;
  readonly transfer: Transfer;
  readonly order: Order;
  loadUrl(url: string): Promise<{ name: string; content: string }>;
  summaries(ids: readonly string[]): Promise<ReadonlyMap<string, AccountSummary>>;
}

const access = "permission:workspace.functions";
/** What concerns the functions of all people at once. */
const whole = "admin";

/** Functions as a whole: lists, transfer (contract 4.1). */
export function libraryRoutes(parts: LibraryRoutesParts) {
  return [...listRoutes(parts), ...transferRoutes(parts), ...oneRoutes(parts), ...useRoutes(parts)];
}

function listRoutes({ library, summaries }: LibraryRoutesParts) {
  return [
    defineRoute(
      {
        method: "GET",
        path: "/functions",
        summary: "List functions",
        access: "user",
        returns: z.array(FunctionItem),
      },
      async ({ caller }) =>
        (await library.list()).map((item) =>
          // Why the server switched something off may quote its code.
          caller.role === "admin" || item.user_id === caller.userId
            ? item
            : { ...item, error: null, pending: null },
        ),
    ),
    defineRoute(
      {
        method: "GET",
        path: "/functions/list",
        summary: "List the functions that the caller may change, with their owners",
        access,
        returns: z.array(OwnedFunctionItem),
      },
      async ({ caller }) => {
        const items = await library.listOwn(caller);
        const people = await summaries(items.map(({ user_id }) => user_id));
        return items.map((item) => ({ ...item, user: people.get(item.user_id) ?? null }));
      },
    ),
  ];
}

function transferRoutes({ transfer, loadUrl, order }: LibraryRoutesParts) {
  return [
    defineRoute(
      {
        method: "POST",
        path: "/functions/order",
        summary: "Put the filters that are on into an order, by their saved priorities",
        access: whole,
        body: OrderForm,
        returns: Ordered,
        fails: [400],
      },
      ({ caller, body }) => order(caller, body.ids),
    ),
    defineRoute(
      {
        method: "GET",
        path: "/functions/export",
        summary: "Export all functions with their code",
        access: whole,
        query: z.object({ include_valves: z.stringbool().default(false) }),
        returns: z.array(FunctionExport),
      },
      ({ query }) => transfer.export(query.include_valves),
    ),
    defineRoute(
      {
        method: "POST",
        path: "/functions/sync",
        summary: "Make the functions what is sent; others are deleted",
        access: whole,
        body: SyncForm,
        returns: z.array(FunctionRecord),
        fails: [400],
      },
      ({ caller, body }) => transfer.sync(caller, body.functions),
    ),
    defineRoute(
      {
        method: "POST",
        path: "/functions/load/url",
        summary: "Fetch code from an address",
        access: whole,
        body: LoadUrl,
        returns: z.object({ name: z.string(), content: z.string() }),
        fails: [400, 502, 504],
      },
      ({ body }) => loadUrl(body.url),
    ),
  ];
}

const one = { access, params: IdParams, returns: FunctionRecord, fails: [400] } as const;

function oneRoutes({ library }: LibraryRoutesParts) {
  return [
    defineRoute(
      {
        method: "POST",
        path: "/functions/create",
        summary: "Create a function",
        access,
        body: FunctionForm,
        returns: FunctionRecord,
        fails: [400, 409],
      },
      async ({ caller, body }) => toFullRecord(await library.create(caller, body)),
    ),
    defineRoute(
      { ...one, method: "GET", path: "/functions/id/:id", summary: "Read a function" },
      async ({ caller, params }) => toFullRecord(await library.find(caller, params.id)),
    ),
    defineRoute(
      {
        ...one,
        method: "POST",
        path: "/functions/id/:id/update",
        summary: "Change a function; code that does not load changes nothing",
        body: FunctionUpdate,
        fails: [400, 409],
      },
      async ({ caller, params, body }) => toFullRecord(await library.update(caller, params.id, body)),
    ),
    defineRoute(
      { ...one, method: "POST", path: "/functions/id/:id/toggle", summary: "Switch a function on or off" },
      async ({ caller, params }) => toFullRecord(await library.toggle(caller, params.id)),
    ),
    defineRoute(
      {
        ...one,
        method: "POST",
        path: "/functions/id/:id/toggle/global",
        summary: "Use a function for all models, or no longer",
      },
      async ({ caller, params }) => toFullRecord(await library.toggleGlobal(caller, params.id)),
    ),
    defineRoute(
      {
        method: "DELETE",
        path: "/functions/id/:id/delete",
        summary: "Delete a function",
        access,
        params: IdParams,
        returns: z.literal(true),
      },
      ({ caller, params }) => library.remove(caller, params.id),
    ),
  ];
}

/** For whom a function works, and the questions of its author about that. */
function useRoutes({ library }: LibraryRoutesParts) {
  return [
    defineRoute(
      {
        ...one,
        access: whole,
        method: "POST",
        path: "/functions/id/:id/groups",
        summary: "Use a filter for the members of some groups, whatever the model",
        body: GroupsForm,
      },
      async ({ caller, params, body }) =>
        toFullRecord(await library.useForGroups(caller, params.id, body.group_ids)),
    ),
    defineRoute(
      {
        ...one,
        access: whole,
        method: "POST",
        path: "/functions/id/:id/pending/approve",
        summary: "Do what the author of a function asked for",
        body: ApprovalForm,
        fails: [400, 409],
      },
      async ({ caller, params, body }) =>
        toFullRecord(await library.approve(caller, params.id, body.version_id)),
    ),
    defineRoute(
      {
        ...one,
        method: "POST",
        path: "/functions/id/:id/pending/decline",
        summary: "Take back what the author of a function asked for",
      },
      async ({ caller, params }) => toFullRecord(await library.decline(caller, params.id)),
    ),
  ];
}
