import { z } from "zod";
import { AppError } from "#kernel/errors.ts";
import { defineRoute } from "#kernel/http/route.ts";
import { type AgentParts, openPlace } from "../agent/agent.ts";
import { changesOf, type GatewayRun } from "../agent/gateway-runs.ts";
import { showChanges, undoChanges } from "../snapshots/undo.ts";

const params = z.object({ id: z.string() });
const runParams = params.extend({ run_id: z.string() });

const Run = z
  .object({
    id: z.string(),
    chat_id: z.string(),
    message_id: z.string(),
    model_id: z.string(),
    status: z.enum(["running", "done", "failed", "stopped"]),
    error: z.string().nullable(),
    started_at: z.number().int(),
    ended_at: z.number().int().nullable(),
    changed_files: z.number().int().nullable().describe("Null while it runs, and where that is not known"),
    changes_problem: z.string().nullable(),
    undone_at: z.number().int().nullable(),
  })
  .meta({ id: "GatewayRun" });

const Change = z.object({
  path: z.string(),
  kind: z.enum(["created", "changed", "deleted"]),
  diff: z.string().nullable().describe("A unified diff; null for what is no text or too long"),
});

/** Runs of a workspace for its owner: what each changed, and undoing it. */
export function runRoutes(parts: AgentParts) {
  const { workspaces, runs, snapshots } = parts;
  const require = async (workspaceId: string, id: string) => {
    const run = await runs.find(workspaceId, id);
    if (run === undefined) {
      throw new AppError("not_found", "Not found");
    }
    const changes = changesOf(run);
    if (changes === undefined) {
      throw new AppError("conflict", run.changes_problem ?? "The run has not ended yet.");
    }
    return { run, changes };
  };
  return [
    defineRoute(
      {
        method: "GET",
        path: "/gateway/workspaces/:id/runs",
        summary: "List the last runs of a workspace, the latest first",
        access: "admin",
        params,
        query: z.object({ limit: z.coerce.number().int().min(1).max(200).default(50) }),
        returns: z.array(Run),
        fails: [404],
      },
      async ({ caller, params: { id }, query }) => {
        await workspaces.load(caller, id);
        return (await runs.list(id, query.limit)).map(toRecord);
      },
    ),
    defineRoute(
      {
        method: "GET",
        path: "/gateway/workspaces/:id/runs/:run_id/changes",
        summary: "Show what a run changed, as diffs",
        access: "admin",
        params: runParams,
        returns: z.array(Change),
        fails: [404, 409],
      },
      async ({ caller, params: { id, run_id: runId } }) => {
        await workspaces.load(caller, id);
        const { changes } = await require(id, runId);
        return await showChanges(snapshots, id, changes);
      },
    ),
    defineRoute(
      {
        method: "POST",
        path: "/gateway/workspaces/:id/runs/:run_id/undo",
        summary: "Put the files of a run back as they were before it",
        access: "admin",
        params: runParams,
        returns: Run,
        fails: [404, 409],
      },
      async ({ caller, params: { id, run_id: runId } }) => {
        const workspace = await workspaces.load(caller, id);
        const { run, changes } = await require(id, runId);
        if (run.undone_at !== null) {
          throw new AppError("conflict", "The run is undone already.");
        }
        await runs.requireFree(id);
        const { files } = await openPlace(workspace, parts);
        await undoChanges(files, changes, { snapshots, workspaceId: id });
        await runs.markUndone(runId);
        await parts.audit?.record({
          action: "gateway.run.undone",
          object: { type: "gateway_workspace", id, name: workspace.name },
          after: { run: runId, files: changes.length },
        });
        return toRecord((await runs.find(id, runId)) ?? run);
      },
    ),
  ] as const;
}

function toRecord(run: GatewayRun): z.output<typeof Run> {
  const { workspace_id: _workspace, changes: _changes, ...shown } = run;
  return { ...shown, changed_files: changesOf(run)?.length ?? null };
}
