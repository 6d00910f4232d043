import type { Seal } from "#kernel/seal.ts";
import type { ClientRegistration } from "./sign-in.ts";

const place = "oauth client";

/** Encrypts a registration for `info.oauth_client_info` of a connection (contract §5.1). */
export function sealRegistration(seal: Seal, registration: ClientRegistration): string {
  return seal.seal(registration, place);
}

/** Reads a registration that a connection carries; undefined when it was sealed with another key. */
export function openRegistration(seal: Seal, sealed: unknown): ClientRegistration | undefined {
  try {
    return typeof sealed === "string" && sealed !== ""
      ? (seal.open(sealed, place) as ClientRegistration)
      : undefined;
  } catch {
    return undefined;
  }
}
