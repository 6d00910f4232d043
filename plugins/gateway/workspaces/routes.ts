import { z } from "zod";
import { defineRoute } from "#kernel/http/route.ts";
import type { Audit } from "#plugins/audit/service.ts";
import type { Snapshots } from "../snapshots/snapshots.ts";
import { toModelId, type Workspace, type Workspaces } from "./workspaces.ts";

const name = z.string().trim().min(1).max(200);
const model = z.string().max(500).nullish();
const instructions = z.string().max(20_000);

export const WorkspaceRecord = z
  .object({
    id: z.string(),
    name: z.string(),
    folder: z.string().describe("Path below GATEWAY_ROOT"),
    model_id: z.string().describe("Id of the workspace as a model of the gateway"),
    model: z.string().nullable(),
    instructions: z.string(),
    created_at: z.number().int(),
    updated_at: z.number().int(),
  })
  .meta({ id: "GatewayWorkspace" });

const params = z.object({ id: z.string() });

export interface WorkspaceRouteParts {
  readonly workspaces: Workspaces;
  readonly snapshots: Pick<Snapshots, "forget">;
  readonly audit: Audit | undefined;
}

/** Workspaces of the caller: `/api/v1/gateway/workspaces`. */
export function workspaceRoutes({ workspaces, snapshots, audit }: WorkspaceRouteParts) {
  return [
    defineRoute(
      {
        method: "GET",
        path: "/gateway/workspaces",
        summary: "List your workspaces",
        access: "admin",
        returns: z.array(WorkspaceRecord),
      },
      async ({ caller }) => (await workspaces.list(caller)).map(toRecord),
    ),
    defineRoute(
      {
        method: "POST",
        path: "/gateway/workspaces",
        summary: "Make a workspace of a folder below GATEWAY_ROOT; a folder that is missing is made",
        access: "admin",
        body: z.object({ name, folder: z.string().max(800), model, instructions: instructions.optional() }),
        returns: WorkspaceRecord,
        fails: [400, 409],
      },
      async ({ caller, body }) => {
        const workspace = await workspaces.create(caller, body);
        const object = toObject(workspace);
        await audit?.record({ action: "gateway.workspace.created", object, after: workspace });
        return toRecord(workspace);
      },
    ),
    defineRoute(
      {
        method: "GET",
        path: "/gateway/workspaces/:id",
        summary: "Read one of your workspaces",
        access: "admin",
        params,
        returns: WorkspaceRecord,
        fails: [404],
      },
      async ({ caller, params: { id } }) => toRecord(await workspaces.load(caller, id)),
    ),
    defineRoute(
      {
        method: "POST",
        path: "/gateway/workspaces/:id/update",
        summary: "Change name, model or instructions of a workspace",
        access: "admin",
        params,
        body: z.object({ name: name.optional(), model, instructions: instructions.optional() }),
        returns: WorkspaceRecord,
        fails: [404],
      },
      async ({ caller, params: { id }, body }) => {
        const before = await workspaces.load(caller, id);
        const after = await workspaces.update(caller, id, body);
        await audit?.record({ action: "gateway.workspace.updated", object: toObject(after), before, after });
        return toRecord(after);
      },
    ),
    defineRoute(
      {
        method: "DELETE",
        path: "/gateway/workspaces/:id/delete",
        summary: "Forget a workspace; its folder and files stay",
        access: "admin",
        params,
        returns: z.boolean(),
        fails: [404],
      },
      async ({ caller, params: { id } }) => {
        const gone = await workspaces.remove(caller, id);
        await snapshots.forget(id);
        await audit?.record({ action: "gateway.workspace.deleted", object: toObject(gone), before: gone });
        return true;
      },
    ),
  ] as const;
}

function toRecord(workspace: Workspace): z.output<typeof WorkspaceRecord> {
  const { id, name: title, folder, model: own, instructions: text, created_at, updated_at } = workspace;
  const facts = { id, name: title, folder, model_id: toModelId(workspace), model: own };
  return { ...facts, instructions: text, created_at, updated_at };
}

function toObject({ id, name: title }: Workspace) {
  return { type: "gateway_workspace", id, name: title };
}
