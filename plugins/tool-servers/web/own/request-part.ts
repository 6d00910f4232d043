import { ownServers } from "./own-servers.svelte.ts";

/** The part of a completion's request that names the person's own tool servers (contract §3.1). */
export async function toPart(): Promise<Record<string, unknown>> {
  await ownServers.load();
  const servers = ownServers.toRequest();
  return servers.length === 0 ? {} : { tool_servers: servers };
}
