import { z } from "zod";
import type { ConfigRegistry } from "#config/registry.ts";
import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import { defineRoute } from "#kernel/http/route.ts";
import type { Slot } from "#kernel/service.ts";
import { requireNoProblem } from "#kernel/upstream/endpoint-form.ts";
import type { ToolServerConfig } from "../config.ts";
import type { ToolServerKind } from "../service.ts";
import { toConnection } from "./connection.ts";
import { findProblem } from "./problems.ts";
import { StoredServer } from "./schema.ts";
import { maskServer, unmaskServer } from "./secrets.ts";

export interface ConnectionRoutesOptions {
  readonly config: ToolServerConfig;
  readonly configuration: Pick<ConfigRegistry, "set">;
  readonly kinds: Slot<ToolServerKind>;
  /** Tells of a change; addresses and keys stay out of it. */
  changed(by: Principal, data: { readonly servers: number }): void;
}

const View = z
  .object({ TOOL_SERVER_CONNECTIONS: z.array(StoredServer).max(100) })
  .meta({ id: "ToolServers" });

/** Milliseconds that a try may take in all. */
const patience = 30_000;

/** Reading, changing and trying out tool servers (contract §5.1). Secrets are shown masked and may come back so. */
export function connectionRoutes({ config, configuration, kinds, changed }: ConnectionRoutesOptions) {
  const view = () => ({ TOOL_SERVER_CONNECTIONS: config.connections.map(maskServer) });
  const kindOf = (type: string) => kinds.list().find((kind) => kind.type === type);
  const require = (server: StoredServer, name: string) => {
    const problem = findProblem(server) ?? kindOf(server.type || "openapi")?.findProblem?.(server);
    requireNoProblem(problem, name);
  };
  return [
    defineRoute(
      {
        method: "GET",
        path: "/configs/tool_servers",
        summary: "Read the tool servers",
        access: "admin",
        returns: View,
      },
      view,
    ),
    defineRoute(
      {
        method: "POST",
        path: "/configs/tool_servers",
        summary: "Replace the tool servers",
        access: "admin",
        body: View,
        returns: View,
        fails: [400],
      },
      async ({ body, caller }) => {
        const given = body.TOOL_SERVER_CONNECTIONS;
        given.forEach((server, index) => require(server, `Tool server ${index}`));
        requireDistinct(given);
        const servers = given.map((server, index) => unmaskServer(server, config.connections, index));
        await configuration.set({ TOOL_SERVER_CONNECTIONS: servers }, caller.userId);
        changed(caller, { servers: servers.length });
        return view();
      },
    ),
    defineRoute(
      {
        method: "POST",
        path: "/configs/tool_servers/verify",
        summary: "Try a tool server and list its functions",
        access: "admin",
        body: StoredServer,
        returns: z.looseObject({}),
        fails: [400],
      },
      async ({ body, caller, request }) => {
        require(body, "This tool server");
        const server = toConnection(unmaskServer(body, config.connections), 0);
        const kind = kindOf(server.type);
        if (kind === undefined) {
          throw new AppError("invalid", `Nothing on this server speaks ${server.type}.`);
        }
        return await tryOut(() =>
          kind.verify(server, caller, AbortSignal.any([request.signal, AbortSignal.timeout(patience)])),
        );
      },
    ),
  ] as const;
}

/** Whatever a server does wrong, the administrator's form gets 400 with the reason (contract §5.1). */
async function tryOut(verify: () => Promise<object>): Promise<Record<string, unknown>> {
  try {
    return { ...(await verify()) };
  } catch (error) {
    if (error instanceof AppError && error.code !== "unprocessable") {
      throw new AppError("invalid", error.message, { cause: error });
    }
    if (error instanceof DOMException && error.name === "TimeoutError") {
      throw new AppError("invalid", `The tool server did not answer within ${patience / 1000} seconds.`);
    }
    throw error;
  }
}

function requireDistinct(servers: readonly StoredServer[]): void {
  const ids = servers.map((server, index) => toConnection(server, index).toolId);
  const at = ids.findIndex((id, index) => ids.indexOf(id) !== index);
  if (at >= 0) {
    throw new AppError(
      "invalid",
      `Tool server ${at} cannot be used: another one is "${ids[at]}", too (info.id).`,
    );
  }
}
