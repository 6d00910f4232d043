import { z } from "zod";
import { defineRoute } from "#kernel/http/route.ts";
import type { ToolCatalogue } from "./catalogue.ts";

const Tool = z
  .looseObject({
    id: z.string(),
    name: z.string(),
    description: z.string().optional(),
    meta: z.record(z.string(), z.unknown()).optional(),
    server: z.object({ type: z.enum(["openapi", "mcp"]) }).optional(),
    authenticated: z.boolean().optional(),
    write_access: z.boolean().optional(),
  })
  .meta({ id: "ListedTool" });

const Specs = z.object({
  specs: z.array(
    z.looseObject({ name: z.string(), description: z.string(), parameters: z.unknown().optional() }),
  ),
});

/** What people may choose as `tool_ids` (Core API, Tools and terminals). */
export function toolRoutes({ list, specs }: ToolCatalogue) {
  return [
    defineRoute(
      {
        method: "GET",
        path: "/tools/",
        summary: "List the tools that the caller may use: workspace tools and tool servers",
        access: "user",
        returns: z.array(Tool),
      },
      async ({ caller }) => [...(await list(caller))],
    ),
    defineRoute(
      {
        method: "GET",
        path: "/tools/id/:id/specs",
        summary: "List the functions of an MCP server, which is asked now",
        access: "user",
        params: z.object({ id: z.string().min(1).max(1024) }),
        returns: Specs,
        fails: [400, 401, 403, 404, 502, 503, 504],
      },
      async ({ caller, params, request }) => ({
        specs: [...(await specs(caller, params.id, request.signal)).specs],
      }),
    ),
  ];
}
