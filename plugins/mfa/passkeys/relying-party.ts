import { AppError } from "#kernel/errors.ts";
import type { RequestInfo } from "#kernel/http/route.ts";

/** The site that passkeys belong to. */
export interface RelyingParty {
  /** Host name. */
  readonly id: string;
  readonly origin: string;
}

/**
 * The site of WEBUI_URL, else the one the browser asked for: a browser signs for no other site than the one it shows, so
 * that a forged Host header opens nothing. Undefined for addresses of numbers, for which there are no passkeys.
 */
export function findRelyingParty(
  publicUrl: string,
  request: Pick<RequestInfo, "protocol" | "host">,
): RelyingParty | undefined {
  const address = publicUrl === "" ? `${request.protocol}://${request.host ?? ""}` : publicUrl;
  if (!URL.canParse(address)) {
    return undefined;
  }
  const { hostname, origin } = new URL(address);
  // An address of version 6 stands in brackets; one of version 4 is written with dots by then.
  return /^[\d.]+$|^\[/.test(hostname) ? undefined : { id: hostname, origin };
}

/** The same; throws `invalid` where passkeys cannot be used. */
export function requireRelyingParty(
  publicUrl: string,
  request: Pick<RequestInfo, "protocol" | "host">,
): RelyingParty {
  const found = findRelyingParty(publicUrl, request);
  if (found === undefined) {
    throw new AppError(
      "invalid",
      "Passkeys need a host name: open the platform by its name, not by a number.",
    );
  }
  return found;
}
