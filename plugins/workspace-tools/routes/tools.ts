import { z } from "zod";
import { hasPermission } from "#kernel/access/permissions.ts";
import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import { defineRoute } from "#kernel/http/route.ts";
import type { AccountSummary } from "#plugins/accounts/service.ts";
import { IdParams, LoadUrl } from "#plugins/functions/service.ts";
import type { Decisions } from "../library/decisions.ts";
import type { Library } from "../library/library.ts";
import { AccessForm, ApprovalForm, ToolForm, ToolItem, ToolRecord, ToolUpdate } from "../schema.ts";

export interface ToolRoutesParts {
  readonly library: Library;
  readonly decisions: Decisions;
  loadUrl(url: string): Promise<{ name: string; content: string }>;
  summaries(ids: readonly string[]): Promise<ReadonlyMap<string, AccountSummary>>;
}

/** Workspace tools (contract 4.3). */
export function toolRoutes(parts: ToolRoutesParts) {
  return [...listRoutes(parts), ...oneRoutes(parts), ...decisionRoutes(parts)];
}

function listRoutes({ library, loadUrl, summaries }: ToolRoutesParts) {
  return [
    defineRoute(
      {
        method: "GET",
        path: "/tools/list",
        summary: "List the workspace tools that the caller may use, with their owners",
        access: "user",
        returns: z.array(ToolItem),
      },
      async ({ caller }) => {
        const items = await library.list(caller);
        const people = await summaries(items.map(({ user_id }) => user_id));
        return items.map((item) => ({ ...item, user: people.get(item.user_id) ?? null }));
      },
    ),
    defineRoute(
      {
        method: "GET",
        path: "/tools/export",
        summary: "Export the workspace tools that the caller may change, with their code",
        access: "permission:workspace.tools_export",
        returns: z.array(ToolRecord),
      },
      ({ caller }) => library.export(caller),
    ),
    defineRoute(
      {
        method: "POST",
        path: "/tools/load/url",
        summary: "Fetch the code of a tool from an address",
        access: "admin",
        body: LoadUrl,
        returns: z.object({ name: z.string(), content: z.string() }),
        fails: [400, 502, 504],
      },
      ({ body }) => loadUrl(body.url),
    ),
    defineRoute(
      {
        method: "POST",
        path: "/tools/create",
        summary: "Create or import a workspace tool",
        access: "user",
        body: ToolForm,
        returns: ToolRecord,
        fails: [400, 403, 409],
        idempotent: true,
      },
      async ({ caller, body }) => {
        requireAuthor(caller);
        return await library.create(caller, body);
      },
    ),
  ];
}

const one = { access: "user", params: IdParams, returns: ToolRecord, fails: [403, 404] } as const;

function oneRoutes({ library }: ToolRoutesParts) {
  return [
    defineRoute(
      {
        ...one,
        method: "GET",
        path: "/tools/id/:id",
        summary: "Read a workspace tool; without its code for those who may only use it",
      },
      ({ caller, params }) => library.get(caller, params.id),
    ),
    defineRoute(
      {
        ...one,
        method: "POST",
        path: "/tools/id/:id/update",
        summary: "Change a workspace tool; code that does not load changes nothing",
        body: ToolUpdate,
        fails: [400, 403, 404, 409],
      },
      ({ caller, params, body }) => library.update(caller, params.id, body),
    ),
    defineRoute(
      {
        ...one,
        method: "POST",
        path: "/tools/id/:id/access/update",
        summary: "Say who may use or change a workspace tool",
        body: AccessForm,
      },
      ({ caller, params, body }) => library.share(caller, params.id, body.access_grants),
    ),
    defineRoute(
      {
        ...one,
        method: "DELETE",
        path: "/tools/id/:id/delete",
        summary: "Delete a workspace tool",
        returns: z.literal(true),
      },
      ({ caller, params }) => library.remove(caller, params.id),
    ),
  ];
}

/** What an author asks administrators for. */
function decisionRoutes({ library, decisions }: ToolRoutesParts) {
  return [
    defineRoute(
      {
        ...one,
        access: "admin",
        method: "POST",
        path: "/tools/id/:id/pending/approve",
        summary: "Agree to what the code of a tool may do",
        body: ApprovalForm,
        fails: [404, 409],
      },
      async ({ caller, params, body }) =>
        library.show(caller, await decisions.approve(caller, params.id, body.version_id)),
    ),
    defineRoute(
      {
        ...one,
        method: "POST",
        path: "/tools/id/:id/pending/decline",
        summary: "Take back what the author of a tool asked for",
      },
      async ({ caller, params }) => library.show(caller, await decisions.decline(caller, params.id)),
    ),
  ];
}

/** Throws `forbidden` for those who may neither write nor import tools. */
export function requireAuthor(caller: Principal): void {
  if (!hasPermission(caller, "workspace.tools") && !hasPermission(caller, "workspace.tools_import")) {
    throw new AppError("forbidden", "You may not create tools.");
  }
}
