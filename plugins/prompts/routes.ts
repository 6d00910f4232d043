import { z } from "zod";
import { defineRoute } from "#kernel/http/route.ts";
import type { History } from "./library/history.ts";
import type { Library } from "./library/library.ts";
import type { Listing } from "./library/listing.ts";
import {
  AccessForm,
  DiffQuery,
  HistoryDiff,
  HistoryEntry,
  HistoryParams,
  HistoryQuery,
  IdParams,
  ListQuery,
  MetaForm,
  PromptForm,
  PromptItem,
  PromptPage,
  PromptRecord,
  PromptUpdate,
  VersionForm,
} from "./schema.ts";

export interface PromptLogic {
  readonly library: Library;
  readonly listing: Listing;
  readonly history: History;
}

/** Prompts (contract 8). */
export function promptRoutes(logic: PromptLogic) {
  return [...listRoutes(logic), ...oneRoutes(logic), ...stateRoutes(logic), ...historyRoutes(logic)];
}

function listRoutes({ library, listing }: PromptLogic) {
  return [
    defineRoute(
      {
        method: "GET",
        path: "/prompts/",
        summary: "List the prompts that the caller may use",
        access: "user",
        returns: z.array(PromptItem),
      },
      ({ caller }) => listing.all(caller),
    ),
    defineRoute(
      {
        method: "GET",
        path: "/prompts/list",
        summary: "List and search prompts by page",
        access: "user",
        query: ListQuery,
        returns: PromptPage,
      },
      ({ caller, query }) => listing.page(caller, query),
    ),
    defineRoute(
      {
        method: "GET",
        path: "/prompts/tags",
        summary: "List the tags of the prompts that the caller may use",
        access: "user",
        returns: z.array(z.string()),
      },
      ({ caller }) => listing.tags(caller),
    ),
    defineRoute(
      {
        method: "GET",
        path: "/prompts/export",
        summary: "Export the prompts that the caller may change",
        access: "permission:workspace.prompts_export",
        returns: z.array(PromptRecord),
      },
      ({ caller }) => listing.export(caller),
    ),
    defineRoute(
      {
        method: "POST",
        path: "/prompts/create",
        summary: "Create or import a prompt; needs workspace.prompts or workspace.prompts_import",
        access: "user",
        body: PromptForm,
        returns: PromptRecord,
        fails: [400, 403],
        idempotent: true,
      },
      ({ caller, body }) => library.create(caller, body),
    ),
  ];
}

const one = { access: "user", params: IdParams, returns: PromptRecord, fails: [403, 404] } as const;

function oneRoutes({ library }: PromptLogic) {
  return [
    defineRoute(
      { ...one, method: "GET", path: "/prompts/id/:id", summary: "Read a prompt" },
      ({ caller, params }) => library.get(caller, params.id),
    ),
    defineRoute(
      {
        ...one,
        method: "POST",
        path: "/prompts/id/:id/update",
        summary: "Store a version of a prompt; with is_production false as a draft",
        body: PromptUpdate,
        fails: [400, 403, 404, 409],
      },
      ({ caller, params, body }) => library.update(caller, params.id, body),
    ),
    defineRoute(
      {
        ...one,
        method: "POST",
        path: "/prompts/id/:id/update/meta",
        summary: "Change name, command and tags of a prompt without a version",
        body: MetaForm,
        fails: [400, 403, 404],
      },
      ({ caller, params, body }) => library.updateMeta(caller, params.id, body),
    ),
    defineRoute(
      {
        ...one,
        method: "DELETE",
        path: "/prompts/id/:id/delete",
        summary: "Delete a prompt with its versions",
        returns: z.literal(true),
      },
      ({ caller, params }) => library.remove(caller, params.id),
    ),
  ];
}

function stateRoutes({ library }: PromptLogic) {
  return [
    defineRoute(
      {
        ...one,
        method: "POST",
        path: "/prompts/id/:id/update/version",
        summary: "Put a version of a prompt into use",
        body: VersionForm,
      },
      ({ caller, params, body }) => library.useVersion(caller, params.id, body.version_id),
    ),
    defineRoute(
      {
        ...one,
        method: "POST",
        path: "/prompts/id/:id/access/update",
        summary: "Say who may use or change a prompt",
        body: AccessForm,
      },
      ({ caller, params, body }) => library.share(caller, params.id, body.access_grants),
    ),
    defineRoute(
      {
        ...one,
        method: "POST",
        path: "/prompts/id/:id/toggle",
        summary: "Offer a prompt, or take it out of the composer",
      },
      ({ caller, params }) => library.toggle(caller, params.id),
    ),
  ];
}

function historyRoutes({ history }: PromptLogic) {
  return [
    defineRoute(
      {
        ...one,
        method: "GET",
        path: "/prompts/id/:id/history",
        summary: "List versions of a prompt, newest first, 20 a page from page 0",
        query: HistoryQuery,
        returns: z.array(HistoryEntry),
      },
      ({ caller, params, query }) => history.page(caller, params.id, query.page),
    ),
    defineRoute(
      {
        ...one,
        method: "GET",
        path: "/prompts/id/:id/history/diff",
        summary: "Compare two versions of a prompt line by line",
        query: DiffQuery,
        returns: HistoryDiff,
      },
      ({ caller, params, query }) =>
        history.diff(caller, params.id, { from: query.from_id, to: query.to_id }),
    ),
    defineRoute(
      {
        ...one,
        method: "GET",
        path: "/prompts/id/:id/history/:history_id",
        summary: "Read a version of a prompt",
        params: HistoryParams,
        returns: HistoryEntry,
      },
      ({ caller, params }) => history.get(caller, params.id, params.history_id),
    ),
    defineRoute(
      {
        ...one,
        method: "DELETE",
        path: "/prompts/id/:id/history/:history_id",
        summary: "Delete a version of a prompt that is not in use",
        params: HistoryParams,
        returns: z.literal(true),
        fails: [400, 403, 404],
      },
      ({ caller, params }) => history.remove(caller, params.id, params.history_id),
    ),
  ];
}
