import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import {
  isNameAllowed,
  type ToolServerConnection,
  type ToolServerKind,
} from "#plugins/tool-servers/service.ts";
import { discover, type ResourceMode } from "./oauth/discovery.ts";
import type { SessionStore } from "./oauth/stores.ts";
import type { CallPlace, OpenSession } from "./sessions.ts";
import { toProvider, type toSignInTarget, usesOAuth } from "./targets.ts";
import { createTimelyReader } from "./tools/timely-reader.ts";
import { toTools, type ToToolsParts } from "./tools/to-tools.ts";

export interface KindParts extends ToToolsParts {
  readonly open: OpenSession;
  readonly sessions: SessionStore;
  toTarget(server: ToolServerConnection, userId: string): ReturnType<typeof toSignInTarget>;
  resourceMode(): ResourceMode;
}

/** Core API, limits: the specs call answers 504 after so long a silence. */
const specsMs = 15_000;

/** MCP servers among the tool servers (contract §5.1). */
export function createMcpKind(parts: KindParts): ToolServerKind {
  const readInTime = createTimelyReader();
  /** Asks the server itself; under its own names, as filters of names want them. */
  const list = async (
    server: ToolServerConnection,
    principal: Principal,
    { signal, ...place }: CallPlace & { readonly signal: AbortSignal },
  ) => {
    const listed = await parts.open(server, principal, place).use((connection) => {
      connection.tools.forget();
      return connection.tools.read();
    }, signal);
    return listed.map(({ name, description = "", inputSchema: parameters }) => ({
      name,
      description,
      parameters,
    }));
  };
  return {
    type: "mcp",
    async verify(server, principal, signal) {
      if (usesOAuth(server)) {
        return { status: true, oauth_server_metadata: await readMetadata(server, principal, parts) };
      }
      return { status: true, specs: await list(server, principal, { signal }) };
    },
    async tools(server, { principal, run, signal, onProblem }) {
      const session = parts.open(server, principal, { chatId: run?.chatId, messageId: run?.messageId });
      const listed = await readInTime(session, { signal, onProblem });
      return toTools(listed, session, parts);
    },
    async list(server, principal) {
      if (!usesOAuth(server)) {
        return {};
      }
      const stored = await parts.sessions.read({ userId: principal.userId, provider: toProvider(server.id) });
      return {
        authenticated: stored !== undefined && stored.tokens.url === server.url && !stored.wantedScope,
      };
    },
    async specs(server, principal, signal) {
      const late = AbortSignal.timeout(specsMs);
      try {
        const specs = await list(server, principal, {
          signal: AbortSignal.any([signal, late]),
          patienceMs: specsMs,
        });
        return { specs: specs.filter(({ name }) => isNameAllowed(server, name)) };
      } catch (error) {
        signal.throwIfAborted();
        throw toSpecsError(error, server, late);
      }
    },
  };
}

/** Sign-ins that a caller can renew; any other credential is the connection's own. */
const isOfCaller = (server: ToolServerConnection) =>
  usesOAuth(server) || server.auth_type === "session" || server.auth_type === "system_oauth";

/** Core API, errors: 401 not signed in, 504 after silence, 502 for every other failure (I50). */
function toSpecsError(error: unknown, server: ToolServerConnection, late: AbortSignal): AppError {
  const code = error instanceof AppError ? error.code : undefined;
  if (late.aborted || code === "timeout") {
    return new AppError("timeout", "The MCP server did not answer in time.", { cause: error });
  }
  if (error instanceof AppError && code === "unauthenticated" && isOfCaller(server)) {
    return error;
  }
  const text = error instanceof AppError ? error.message : "The MCP server could not be asked for its tools.";
  return new AppError("upstream", text, { cause: error });
}

async function readMetadata(
  server: ToolServerConnection,
  { userId }: Principal,
  parts: KindParts,
): Promise<object> {
  const target = parts.toTarget(server, userId);
  const found = await discover(
    {
      url: server.url,
      authorizationServerUrl: target.authorizationServerUrl,
      resourceMode: parts.resourceMode(),
      challenge: undefined,
    },
    target.fetchServer,
  );
  if (found.metadata === undefined) {
    throw new AppError("upstream", "The server names no authorization server whose metadata can be read.");
  }
  return found.metadata;
}
