import { z } from "zod";
import { defineRoute } from "#kernel/http/route.ts";
import type { Sandbox } from "#kernel/sandbox.ts";
import type { AccountSummary } from "#plugins/accounts/service.ts";
import { IdParams, LogLines, VersionParams } from "#plugins/functions/service.ts";
import type { Library } from "../library/library.ts";
import type { Trial } from "../library/trial.ts";
import type { Versions } from "../library/versions.ts";
import { type FindTool, toScriptId } from "../parts.ts";
import {
  CheckForm,
  CheckResult,
  ToolRecord,
  ToolVersion,
  ToolVersionContent,
  TrialForm,
  TrialResult,
} from "../schema.ts";
import { requireAuthor } from "./tools.ts";

export interface CodeRoutesParts {
  readonly versions: Versions;
  readonly library: Library;
  readonly trial: Trial;
  readonly sandbox: Pick<Sandbox, "logs">;
  /** The tool for somebody who may change it. */
  readonly find: FindTool;
  summaries(ids: readonly string[]): Promise<ReadonlyMap<string, AccountSummary>>;
}

/** Code that is tried before it is stored, what the stored code wrote, and its versions. */
export function codeRoutes(parts: CodeRoutesParts) {
  return [...trialRoutes(parts), ...versionRoutes(parts)];
}

function trialRoutes({ trial, sandbox, find }: CodeRoutesParts) {
  return [
    defineRoute(
      {
        method: "POST",
        path: "/tools/check",
        summary: "Load unsaved code of a tool and read what it declares",
        access: "user",
        body: CheckForm,
        returns: CheckResult,
        fails: [403],
      },
      async ({ caller, body }) => {
        requireAuthor(caller);
        return await trial.check(caller, body.content);
      },
    ),
    defineRoute(
      {
        method: "POST",
        path: "/tools/try",
        summary: "Call a function of unsaved code",
        access: "permission:workspace.tools",
        body: TrialForm,
        returns: TrialResult,
      },
      ({ caller, body, request }) => trial.call(caller, body, request.signal),
    ),
    defineRoute(
      {
        method: "GET",
        path: "/tools/id/:id/logs",
        summary: "Read the last console lines of a tool, of this process",
        access: "user",
        params: IdParams,
        returns: LogLines,
        fails: [403, 404],
      },
      async ({ caller, params }) => {
        const { id } = await find(caller, params.id);
        return { lines: [...sandbox.logs(toScriptId(id))] };
      },
    ),
  ];
}

function versionRoutes({ versions, library, summaries }: CodeRoutesParts) {
  return [
    defineRoute(
      {
        method: "GET",
        path: "/tools/id/:id/versions",
        summary: "List the versions of a tool's code, newest first",
        access: "user",
        params: IdParams,
        returns: z.array(ToolVersion),
        fails: [403, 404],
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
        path: "/tools/id/:id/versions/:version",
        summary: "Read the code of a version of a tool",
        access: "user",
        params: VersionParams,
        returns: ToolVersionContent,
        fails: [403, 404],
      },
      ({ caller, params }) => versions.find(caller, params.id, params.version),
    ),
    defineRoute(
      {
        method: "POST",
        path: "/tools/id/:id/versions/:version/restore",
        summary: "Make a version the tool's code again",
        access: "user",
        params: VersionParams,
        returns: ToolRecord,
        fails: [400, 403, 404],
      },
      async ({ caller, params }) => {
        const { content } = await versions.find(caller, params.id, params.version);
        return await library.restore(caller, params.id, content);
      },
    ),
  ];
}
