import type { Egress } from "#kernel/egress/egress.ts";
import { AppError } from "#kernel/errors.ts";

const dots = "…";

/** An address as answers show it: the host, and four characters of its end; the path of a webhook is a secret. */
export function maskUrl(address: string): string {
  const url = URL.parse(address);
  if (url === null) {
    return dots;
  }
  const rest = `${url.pathname}${url.search}`;
  return rest === "/" ? url.origin : `${url.origin}/${dots}${rest.length >= 12 ? rest.slice(-4) : ""}`;
}

/** True for an address that came back as it was shown. */
const isMaskedUrl = (address: string): boolean => address.includes(dots);

/** The address to store, normalised. Throws `invalid` for one that is no http(s) address, or that is private. */
export async function requireReachable(
  egress: Pick<Egress, "mayReach">,
  field: string,
  address: string,
): Promise<string> {
  const url = requireUrl(field, address);
  if (!(await egress.mayReach(url))) {
    const { origin } = new URL(url);
    throw new AppError(
      "invalid",
      `${field}: private addresses are refused. To allow this one, add ${origin} to EGRESS_ALLOWED_PRIVATE_ORIGINS.`,
    );
  }
  return url;
}

/** The address that replaces the stored one; undefined where that stays: none was given, or it came back as it was shown. */
export async function requireReplaced(
  egress: Pick<Egress, "mayReach">,
  field: string,
  given: string | undefined,
): Promise<string | undefined> {
  return given === undefined || isMaskedUrl(given) ? undefined : await requireReachable(egress, field, given);
}

/** The address, normalised. Throws `invalid` for one that is no http(s) address. */
export function requireUrl(field: string, address: string): string {
  const url = URL.parse(address);
  if (url === null || (url.protocol !== "http:" && url.protocol !== "https:")) {
    throw new AppError("invalid", `${field}: write an address that begins with https:// or http://.`);
  }
  return url.href;
}
