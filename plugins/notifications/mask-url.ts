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
export const isMaskedUrl = (address: string): boolean => address.includes(dots);

/** The address to store, normalised. Throws `invalid` for one that is no http(s) address. */
export function requireUrl(field: string, address: string): string {
  const url = URL.parse(address);
  if (url === null || (url.protocol !== "http:" && url.protocol !== "https:")) {
    throw new AppError("invalid", `${field}: write an address that begins with https:// or http://.`);
  }
  return url.href;
}
