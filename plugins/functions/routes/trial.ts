import { z } from "zod";
import { defineRoute } from "#kernel/http/route.ts";
import type { Sandbox } from "#kernel/sandbox.ts";
import { toScriptId } from "../calls/load.ts";
import type { Check } from "../library/check-code.ts";
import type { DryRun } from "../library/dry-run.ts";
import type { Library } from "../library/library.ts";
import type { Samples } from "../library/samples.ts";
import {
  CheckForm,
  CheckResult,
  DryRunForm,
  DryRunResult,
  IdParams,
  LogLines,
  Sample,
  SampleForm,
  SampleParams,
  SampleRun,
  SampleRunForm,
} from "../schema.ts";

export interface TrialRoutesParts {
  readonly check: Check;
  readonly dryRun: DryRun;
  readonly samples: Samples;
  readonly library: Library;
  readonly sandbox: Pick<Sandbox, "logs">;
}

const access = "permission:workspace.functions";

/** Code that is tried before it is stored, and what the stored code wrote. */
export function trialRoutes(parts: TrialRoutesParts) {
  return [...codeRoutes(parts), ...sampleRoutes(parts)];
}

function codeRoutes({ check, dryRun, sandbox, library }: TrialRoutesParts) {
  return [
    defineRoute(
      {
        method: "POST",
        path: "/functions/check",
        summary: "Load unsaved code and read what it declares",
        access,
        body: CheckForm,
        returns: CheckResult,
      },
      ({ caller, body }) => check(caller, body.content),
    ),
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
      async ({ caller, params }) => {
        const { id } = await library.find(caller, params.id);
        return { lines: [...sandbox.logs(toScriptId(id))] };
      },
    ),
  ];
}

function sampleRoutes({ samples }: TrialRoutesParts) {
  const one = { access, params: IdParams } as const;
  return [
    defineRoute(
      {
        ...one,
        method: "GET",
        path: "/functions/id/:id/samples",
        summary: "List the samples that run at each save of a function",
        returns: z.array(Sample),
      },
      ({ caller, params }) => samples.list(caller, params.id),
    ),
    defineRoute(
      {
        ...one,
        method: "POST",
        path: "/functions/id/:id/samples",
        summary: "Pin a sample with the result that is expected of it",
        body: SampleForm,
        returns: Sample,
        fails: [400, 413],
      },
      ({ caller, params, body }) => samples.add(caller, params.id, body),
    ),
    defineRoute(
      {
        ...one,
        method: "POST",
        path: "/functions/id/:id/samples/run",
        summary: "Run all samples of a function, on unsaved code when it is sent",
        body: SampleRunForm,
        returns: z.array(SampleRun),
      },
      ({ caller, params, body, request }) =>
        samples.run(caller, params.id, { content: body.content, signal: request.signal }),
    ),
    defineRoute(
      {
        method: "DELETE",
        path: "/functions/id/:id/samples/:sample",
        summary: "Take a sample away",
        access,
        params: SampleParams,
        returns: z.literal(true),
      },
      ({ caller, params }) => samples.remove(caller, params.id, params.sample),
    ),
  ];
}
