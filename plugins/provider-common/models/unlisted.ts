import type { Principal } from "#kernel/access/principal.ts";
import { isAmong } from "#kernel/completion/audience.ts";
import type { Connection } from "../connections/connection.ts";
import type { Target } from "./offers.ts";
import { isNoChatModel } from "./parse-models.ts";

/**
 * The vendor's own host lists models that speak or embed, but they are left out of the list because they do not chat:
 * they are for everybody who may use models of the connection that have no record.
 */
export function findUnlisted(
  connections: readonly Connection[],
  id: string,
  caller: Pick<Principal, "role" | "groupIds">,
): Target | undefined {
  const named = connections.filter(
    ({ prefix, isDefaultHost, isEnabled, problem, modelIds }) =>
      (prefix === "" || id.startsWith(`${prefix}.`)) &&
      isDefaultHost &&
      isEnabled &&
      !problem &&
      modelIds.length === 0,
  );
  // What stands below a prefix is no other connection's, whoever may use it.
  const longest = Math.max(...named.map(({ prefix }) => prefix.length));
  const connection = named.find(({ prefix, access }) => prefix.length === longest && isAmong(access, caller));
  const upstreamId = longest > 0 ? id.slice(longest + 1) : id;
  return connection && isNoChatModel(upstreamId) ? { connection, upstreamId } : undefined;
}
