import { z } from "zod";
import { isUtf8 } from "node:buffer";
import { AppError } from "#kernel/errors.ts";
import { defineRoute } from "#kernel/http/route.ts";
import { type AgentParts, openPlace } from "../agent/agent.ts";
import { runShell } from "../agent/tools/run-tools.ts";

const params = z.object({ id: z.string() });
const query = z.object({ path: z.string().max(4096).default("") });

const Entry = z.object({
  name: z.string(),
  kind: z.enum(["file", "folder", "link", "other"]),
  size: z.number().int(),
  modified: z.number().int().describe("Epoch milliseconds"),
});

const CommandResult = z.object({
  exit_code: z.number().int().nullable(),
  output: z.string(),
  ended: z.enum(["timeout", "output", "processes", "memory"]).nullable(),
  confined: z.boolean(),
});

const longestShown = 1_000_000;
const mostSeconds = 600;

/** Files and commands of a workspace for its owner. */
export function fileRoutes(parts: AgentParts) {
  const { workspaces } = parts;
  return [
    defineRoute(
      {
        method: "GET",
        path: "/gateway/workspaces/:id/files",
        summary: "List a folder of a workspace",
        access: "admin",
        params,
        query,
        returns: z.array(Entry),
        fails: [400, 404],
      },
      async ({ caller, params: { id }, query: { path } }) => {
        const { files } = await openPlace(await workspaces.load(caller, id), parts);
        return await files.list(path);
      },
    ),
    defineRoute(
      {
        method: "GET",
        path: "/gateway/workspaces/:id/file",
        summary: "Read a text file of a workspace",
        access: "admin",
        params,
        query,
        returns: z.object({ path: z.string(), content: z.string(), truncated: z.boolean() }),
        fails: [400, 404, 413],
      },
      async ({ caller, params: { id }, query: { path } }) => {
        const { files } = await openPlace(await workspaces.load(caller, id), parts);
        const bytes = await files.read(path);
        if (bytes.includes(0) || !isUtf8(bytes)) {
          throw new AppError("invalid", `${path} is no text (${bytes.length} bytes).`);
        }
        const content = bytes.toString("utf8");
        return { path, content: content.slice(0, longestShown), truncated: content.length > longestShown };
      },
    ),
    defineRoute(
      {
        method: "POST",
        path: "/gateway/workspaces/:id/command",
        summary: "Run a command in a workspace, as its agent would",
        access: "admin",
        params,
        body: z.object({
          command: z.string().min(1).max(100_000),
          timeout: z.number().int().min(1).max(mostSeconds).default(120).describe("Seconds"),
        }),
        returns: CommandResult,
        fails: [400, 404],
      },
      async ({ caller, params: { id }, body, request }) => {
        const workspace = await workspaces.load(caller, id);
        const place = await openPlace(workspace, parts);
        const object = { type: "gateway_workspace", id, name: workspace.name };
        await parts.audit?.record({
          action: "gateway.command.run",
          object,
          after: { command: body.command.slice(0, 1000) },
        });
        const { signal } = request;
        const result = await runShell(place, body.command, { seconds: body.timeout, signal });
        const { exitCode, output, ended, isConfined } = result;
        return { exit_code: exitCode, output, ended: ended ?? null, confined: isConfined };
      },
    ),
  ] as const;
}
