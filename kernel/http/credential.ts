import type { IncomingHttpHeaders } from "node:http";

/** What a request shows to say who it is. */
export interface Credential {
  readonly value: string;
  readonly source: "header" | "bearer" | "cookie";
}

export interface CredentialOptions {
  /** CUSTOM_API_KEY_HEADER, lower-case. */
  readonly keyHeader: string;
  /** Vendor routes accept `x-api-key` whatever the custom header is called. */
  readonly vendor?: boolean;
}

/** Name of the session cookie. */
export const sessionCookie = "token";

/**
 * Finds the credential of a request: the custom header when present decides, else Bearer, else the cookie.
 * An empty custom header counts as absent; a bearer header of another scheme is no credential.
 */
export function findCredential(
  headers: IncomingHttpHeaders,
  options: CredentialOptions,
): Credential | undefined {
  const named =
    single(headers[options.keyHeader]) ?? (options.vendor ? single(headers["x-api-key"]) : undefined);
  if (named) {
    return { value: named, source: "header" };
  }
  const bearer = /^bearer +(\S+) *$/i.exec(headers.authorization ?? "")?.[1];
  if (bearer) {
    return { value: bearer, source: "bearer" };
  }
  const cookie = findCookie(headers.cookie, sessionCookie);
  return cookie ? { value: cookie, source: "cookie" } : undefined;
}

/** Reads one cookie out of a Cookie header. */
export function findCookie(header: string | undefined, name: string): string | undefined {
  for (const part of header?.split(";") ?? []) {
    const equals = part.indexOf("=");
    if (equals > 0 && part.slice(0, equals).trim() === name) {
      return decode(part.slice(equals + 1).trim());
    }
  }
  return undefined;
}

function single(value: string | string[] | undefined): string | undefined {
  const text = (Array.isArray(value) ? value[0] : value)?.trim();
  return text === "" ? undefined : text;
}

function decode(value: string): string | undefined {
  try {
    return decodeURIComponent(value);
  } catch {
    return undefined;
  }
}
