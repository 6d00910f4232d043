import { core } from "#config/core.ts";
import { oneOf, seconds, text, type Values } from "#config/variable.ts";

export const mcpVariables = {
  initializeTimeout: seconds("MCP_INITIALIZE_TIMEOUT", 10, {
    min: 1,
    whenInvalid: 10,
    text: "Seconds for opening a session with an MCP server",
  }),
  sessionKey: core.oauthSessionKey,
  clientKey: text("OAUTH_CLIENT_INFO_ENCRYPTION_KEY", null, {
    secret: true,
    text: "Encrypts registrations with authorization servers; not set, WEBUI_SECRET_KEY does",
  }),
  resourceMode: oneOf("MCP_OAUTH_RESOURCE", ["automatic", "include", "omit"], "automatic", {
    text: "Whether tokens are asked for with the MCP server's name (RFC 8707): as its metadata say, always, never",
  }),
  toolServerTimeout: core.toolServerTimeout,
  clientTimeout: core.clientTimeout,
};

export type McpConfig = Values<typeof mcpVariables>;

/** Milliseconds for one call; null for none: 0 and less is no limit (configuration document, AIOHTTP_CLIENT_TIMEOUT_TOOL_SERVER). */
export function toCallTimeout({ toolServerTimeout, clientTimeout }: McpConfig): number | null {
  const seconds = toolServerTimeout ?? clientTimeout;
  return seconds === null || seconds <= 0 ? null : seconds * 1000;
}
