import { z } from "zod";
import { defineRoute } from "#kernel/http/route.ts";
import type { AccountSummary } from "#plugins/accounts/service.ts";
import type { Library } from "../library/library.ts";
import { toFullRecord } from "../library/record.ts";
import {
  FunctionRecord,
  FunctionVersion,
  FunctionVersionContent,
  IdParams,
  VersionParams,
} from "../schema.ts";
import type { Versions } from "../library/versions.ts";

export interface VersionRoutesParts {
  readonly versions: Versions;
  readonly library: Library;
  summaries(ids: readonly string[]): Promise<ReadonlyMap<string, AccountSummary>>;
}

const access = "permission:workspace.functions";

/** Earlier versions of a function's code, and how to restore one. */
export function versionRoutes({ versions, library, summaries }: VersionRoutesParts) {
  return [
    defineRoute(
      {
        method: "GET",
        path: "/functions/id/:id/versions",
        summary: "List the versions of a function's code, newest first",
        access,
        params: IdParams,
        returns: z.array(FunctionVersion),
      },
      async ({ caller, params }) => {
        const found = await versions.list(caller, params.id);
        const people = await summaries(found.map(({ user_id }) => user_id));
        return found.map((version) => ({ ...version, user: people.get(version.user_id) ?? null }));
      },
    ),
    defineRoute(
      {
        method: "GET",
        path: "/functions/id/:id/versions/:version",
        summary: "Read the code of a version",
        access,
        params: VersionParams,
        returns: FunctionVersionContent,
      },
      ({ caller, params }) => versions.find(caller, params.id, params.version),
    ),
    defineRoute(
      {
        method: "POST",
        path: "/functions/id/:id/versions/:version/restore",
        summary: "Make a version the function's code again",
        access,
        params: VersionParams,
        returns: FunctionRecord,
        fails: [400],
      },
      async ({ caller, params }) => {
        const { content } = await versions.find(caller, params.id, params.version);
        return toFullRecord(await library.restore(caller, params.id, content));
      },
    ),
  ];
}
