import type { StreamableHTTPError } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { McpError } from "@modelcontextprotocol/sdk/types.js";
import { AppError } from "#kernel/errors.ts";
import { loadedSdk } from "../sdk.ts";

const mostText = 500;

/** What broke an exchange with a server, in words for people and models. */
export function toServerError(error: unknown): AppError {
  const own = findAppError(error);
  if (own !== undefined) {
    return own;
  }
  if (isTimeout(error)) {
    return new AppError("timeout", "The MCP server did not answer in time.", { cause: error });
  }
  if (isTransportError(error)) {
    return fromStatus(error);
  }
  if (isProtocolError(error)) {
    const text = error.message.replace(/^MCP error -?\d+: /, "").slice(0, mostText);
    return new AppError("upstream", `The MCP server answered with an error: ${text}`, { cause: error });
  }
  return new AppError("upstream", "The MCP server's answer could not be understood.", { cause: error });
}

/** True when the server no longer knows the session, so that nothing was done. */
export function isSessionLost(error: unknown): boolean {
  const cause = error instanceof AppError ? error.cause : error;
  return isTransportError(cause) && cause.code === 404;
}

function fromStatus(error: StreamableHTTPError): AppError {
  if (error.code === 401) {
    return new AppError("unauthenticated", "The MCP server refused the credential.", { cause: error });
  }
  if (error.code === 403) {
    return new AppError("forbidden", "The MCP server does not allow this.", { cause: error });
  }
  const text =
    error.code !== undefined && error.code > 0 ? `the status ${error.code}` : "something else than MCP";
  return new AppError("upstream", `The MCP server answered with ${text}.`, { cause: error });
}

function findAppError(error: unknown): AppError | undefined {
  for (let each = error, depth = 0; each instanceof Error && depth < 8; each = each.cause, depth += 1) {
    if (each instanceof AppError) {
      return each;
    }
  }
  return undefined;
}

function isTimeout(error: unknown): boolean {
  const isMcp =
    isProtocolError(error) && Number(error.code) === Number(loadedSdk()?.ErrorCode.RequestTimeout);
  return isMcp || (error instanceof DOMException && error.name === "TimeoutError");
}

function isTransportError(error: unknown): error is StreamableHTTPError {
  const sdk = loadedSdk();
  return sdk !== undefined && error instanceof sdk.StreamableHTTPError;
}

function isProtocolError(error: unknown): error is McpError {
  const sdk = loadedSdk();
  return sdk !== undefined && error instanceof sdk.McpError;
}
