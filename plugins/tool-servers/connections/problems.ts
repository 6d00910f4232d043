import { findAddressProblem } from "#kernel/upstream/endpoint.ts";
import type { StoredServer } from "./schema.ts";

/** Keys of servers that are started as processes elsewhere; here nothing is ever started (promise S61). */
const commandKeys = ["command", "args", "env"];

/** Names the first key that would start a process; undefined without one. */
export function findCommand(server: StoredServer): string | undefined {
  for (const [place, part] of [
    ["", server],
    ["config.", server.config],
    ["info.", server.info],
  ] as const) {
    const key = commandKeys.find((name) => part && Object.hasOwn(part, name));
    if (key !== undefined) {
      return `must not hold "${place}${key}": tool servers are called by their address and never started as processes`;
    }
  }
  return undefined;
}

const authTypes: Readonly<Record<string, readonly string[]>> = {
  openapi: ["none", "bearer", "session", "system_oauth"],
  mcp: ["none", "bearer", "session", "system_oauth", "oauth_2.1", "oauth_2.1_static"],
};

/** What is wrong with a server, in words for an administrator; undefined when it can be used. */
export function findProblem(server: StoredServer): string | undefined {
  const command = findCommand(server);
  if (command !== undefined) {
    return `it ${command}`;
  }
  const type = server.type || "openapi";
  const auths = Object.hasOwn(authTypes, type) ? authTypes[type] : undefined;
  if (auths === undefined) {
    return `the type "${type}" is not supported; use openapi or mcp`;
  }
  const address = findAddressProblem(server.url ?? "");
  if (address !== undefined) {
    return `its url ${address}`;
  }
  if (!auths.includes(server.auth_type || "none")) {
    return `the auth_type "${server.auth_type}" is not supported; use ${auths.join(", ")}`;
  }
  const header = Object.keys(server.headers || {}).find((name) => !isOwnHeader(name));
  return header === undefined
    ? undefined
    : `"${header.slice(0, 100)}" is not a header name that a tool server may be given`;
}

/** Headers of the transport itself stay the client's. */
const reserved = new Set(
  "host content-length content-type transfer-encoding connection upgrade expect te trailer accept-encoding".split(
    " ",
  ),
);

/** True for names of headers that administrators may set. */
export function isOwnHeader(name: string): boolean {
  return /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/.test(name) && !reserved.has(name.toLowerCase());
}
