import { StreamableHTTPError } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ErrorCode, McpError } from "@modelcontextprotocol/sdk/types.js";
import { AppError } from "#kernel/errors.ts";

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
  if (error instanceof StreamableHTTPError) {
    return fromStatus(error);
  }
  if (error instanceof McpError) {
    const text = error.message.replace(/^MCP error -?\d+: /, "").slice(0, mostText);
    return new AppError("upstream", `The MCP server answered with an error: ${text}`, { cause: error });
  }
  return new AppError("upstream", "The MCP server's answer could not be understood.", { cause: error });
}

/** True when the server no longer knows the session, so that nothing was done. */
export function isSessionLost(error: unknown): boolean {
  const cause = error instanceof AppError ? error.cause : error;
  return cause instanceof StreamableHTTPError && cause.code === 404;
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
  const isMcp = error instanceof McpError && Number(error.code) === Number(ErrorCode.RequestTimeout);
  return isMcp || (error instanceof DOMException && error.name === "TimeoutError");
}
