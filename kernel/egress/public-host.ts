import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import { isPublicAddress } from "./address.ts";

/**
 * Whether a host may be handed to a service that fetches it: a public address, or a name that leads to no other. A
 * name that cannot be resolved here may be known to the service, unless it has no dot and so is one of a local network.
 */
export async function isPublicHost(hostname: string): Promise<boolean> {
  const host = hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");
  if (isIP(host) !== 0) {
    return isPublicAddress(host);
  }
  if (!host.includes(".")) {
    return false;
  }
  const found = await lookup(host, { all: true }).catch(() => []);
  return found.every(({ address }) => isPublicAddress(address));
}
