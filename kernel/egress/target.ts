import { AppError } from "#kernel/errors.ts";

/**
 * The source of an address. "operator": an admin or the environment; it may be private. "user": anybody else, a message,
 * a function or a tool; private addresses are refused, except allowed origins. Contract D.15.
 */
export type Trust = "operator" | "user";

/** Where one hop goes. */
export interface Target {
  readonly url: URL;
  /** True when only public addresses may be connected to. */
  readonly isChecked: boolean;
}

/** Parses an address; throws AppError "invalid" when it is none and "forbidden" unless it is http or https. */
export function toUrl(address: string | URL): URL {
  const url = URL.parse(String(address));
  if (!url) {
    throw new AppError("invalid", "The address is not a valid URL.");
  }
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    throw new AppError("forbidden", "Only http and https addresses can be reached.");
  }
  url.hash = "";
  return url;
}

/** Takes user and password out of a URL and returns them as a Basic authorization, undefined when there are none. */
export function takeCredentials(url: URL): string | undefined {
  if (url.username === "" && url.password === "") {
    return undefined;
  }
  const pair = `${decode(url.username)}:${decode(url.password)}`;
  url.username = "";
  url.password = "";
  return `Basic ${Buffer.from(pair).toString("base64")}`;
}

/** Decides whether a hop is held to public addresses; `allowed` lists origins that are exempt (contract D.15). */
export function toTarget(url: URL, trust: Trust, allowed: readonly string[]): Target {
  return {
    url,
    isChecked: trust === "user" && !allowed.some((entry) => URL.parse(entry)?.origin === url.origin),
  };
}

/**
 * The trust in a redirect's destination. An admin vouched for the address that redirects, not for where it points:
 * only the same origin, or the same host reached over TLS instead, inherits the trust.
 */
export function trustAfterRedirect(from: URL, to: URL, trust: Trust): Trust {
  const isUpgrade =
    from.hostname === to.hostname && from.port === "" && to.port === "" && to.protocol === "https:";
  return from.origin === to.origin || isUpgrade ? trust : "user";
}

/** A URL may hold a bare percent sign, which stands for itself. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
