import { z } from "zod";
import { defineRoute } from "#kernel/http/route.ts";
import type { Sandbox } from "#kernel/sandbox.ts";
import type { AccountSummary } from "#plugins/accounts/service.ts";
import type { DryRun } from "../library/dry-run.ts";
import type { Library } from "../library/library.ts";
import { toScriptId } from "../calls/load.ts";
import { toFullRecord } from "../library/record.ts";
import {
  DryRunForm,
  DryRunResult,
  FunctionExport,
  FunctionForm,
  FunctionItem,
  FunctionRecord,
  FunctionUpdate,
  IdParams,
  LoadUrl,
  LogLines,
  OwnedFunctionItem,
  SyncForm,
} from "../schema.ts";
import type { Transfer } from "../library/transfer.ts";

export interface LibraryRoutesParts {
  readonly library: Library;
  readonly transfer: Transfer;
  readonly dryRun: DryRun;
  readonly sandbox: Pick<Sandbox, "logs">;
  loadUrl(url: string): Promise<{ name: string; content: string }>;
  summaries(ids: readonly string[]): Promise<ReadonlyMap<string, AccountSummary>>;
}

const access = "admin";

/** Functions as a whole: lists, transfer, trial (contract 4.1). */
export function libraryRoutes(parts: LibraryRoutesParts) {
  return [...listRoutes(parts), ...transferRoutes(parts), ...trialRoutes(parts), ...oneRoutes(parts)];
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
          caller.role === "admin" ? item : { ...item, error: null },
        ),
    ),
    defineRoute(
      {
        method: "GET",
        path: "/functions/list",
        summary: "List functions with their owners",
        access,
        returns: z.array(OwnedFunctionItem),
      },
      async () => {
        const items = await library.list();
        const people = await summaries(items.map(({ user_id }) => user_id));
        return items.map((item) => ({ ...item, user: people.get(item.user_id) ?? null }));
      },
    ),
  ];
}

function transferRoutes({ transfer, loadUrl }: LibraryRoutesParts) {
  return [
    defineRoute(
      {
        method: "GET",
        path: "/functions/export",
        summary: "Export all functions with their code",
        access,
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
        access,
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
        access,
        body: LoadUrl,
        returns: z.object({ name: z.string(), content: z.string() }),
        fails: [400, 502, 504],
      },
      ({ body }) => loadUrl(body.url),
    ),
  ];
}

function trialRoutes({ dryRun, sandbox, library }: LibraryRoutesParts) {
  return [
    defineRoute(
      {
        method: "POST",
        path: "/functions/dry-run",
        summary: "Run a hook of unsaved code",
        access,
        body: DryRunForm,
        returns: DryRunResult,
      },
      ({ caller, body, request }) => dryRun(caller, body, request.signal),
    ),
    defineRoute(
      {
        method: "GET",
        path: "/functions/id/:id/logs",
        summary: "Read the last console lines of a function, of this process",
        access,
        params: IdParams,
        returns: LogLines,
      },
      async ({ params }) => {
        const { id } = await library.find(params.id);
        return { lines: [...sandbox.logs(toScriptId(id))] };
      },
    ),
  ];
}

function oneRoutes({ library }: LibraryRoutesParts) {
  const one = { access, params: IdParams, returns: FunctionRecord, fails: [400] } as const;
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
      async ({ params }) => toFullRecord(await library.find(params.id)),
    ),
    defineRoute(
      {
        ...one,
        method: "POST",
        path: "/functions/id/:id/update",
        summary: "Change a function; code that does not load switches it off",
        body: FunctionUpdate,
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
