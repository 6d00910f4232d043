import { toFingerprint, toPlainUrl } from "#kernel/upstream/endpoint.ts";
import type { ToolServerConnection } from "../service.ts";
import { findProblem, isOwnHeader } from "./problems.ts";
import type { StoredServer } from "./schema.ts";

/** Builds what a stored entry comes to. */
export function toConnection(server: StoredServer, index: number): ToolServerConnection {
  const type = server.type === "mcp" ? "mcp" : "openapi";
  const id = server.info?.id || String(index);
  const url = toPlainUrl(server.url ?? "");
  const [auth, key] = [server.auth_type || "none", server.key ?? ""];
  const headers = Object.entries(server.headers || {}).filter(([name]) => isOwnHeader(name));
  const { info, path, spec, spec_type: specType } = server;
  return {
    ...server,
    id,
    index,
    toolId: type === "mcp" ? `server:mcp:${id}` : `server:${id}`,
    url,
    type,
    auth_type: auth,
    key,
    name: info?.name?.trim() || URL.parse(url)?.host || id,
    description: info?.description ?? "",
    headerTemplates: headers,
    isEnabled: server.config?.enable !== false,
    problem: findProblem(server),
    fingerprint: toFingerprint(
      id,
      type,
      url,
      path,
      auth,
      key,
      headers,
      spec,
      specType,
      info?.["oauth_client_info"],
    ),
  };
}
