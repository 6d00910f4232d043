import { z } from "zod";
import { upstreamVariables } from "#config/core-upstream.ts";
import { json, type Values } from "#config/variable.ts";
import { findCommand } from "./connections/problems.ts";
import { StoredServer } from "./connections/schema.ts";

export const variables = {
  connections: json("TOOL_SERVER_CONNECTIONS", [], {
    key: "tool_server.connections",
    persisted: true,
    secret: true,
    // `info.oauth_client_info` is encrypted before it comes here.
    secretPlaces: ["*.key", "*.headers.*"],
    schema: z.array(StoredServer).max(100),
    check: (servers) => servers.map(findCommand).find((problem) => problem !== undefined),
    text: 'Tool servers (OpenAPI and MCP), such as [{"type": "openapi", "url": "https://tools.example", "path": "openapi.json", "auth_type": "bearer", "key": "…", "info": {"id": "crm", "name": "CRM"}}]',
  }),
  ...upstreamVariables,
};

export type ToolServerConfig = Values<typeof variables>;
