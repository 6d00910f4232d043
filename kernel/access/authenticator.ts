import type { IncomingHttpHeaders } from "node:http";
import type { Credential } from "#kernel/http/credential.ts";
import { defineService } from "#kernel/service.ts";
import type { Principal } from "./principal.ts";

/** The facts of a request that decide whether a credential is good for it. */
export interface RequestFacts {
  readonly method: string;
  /** The path as the client sent it, without the query. */
  readonly path: string;
  readonly address: string;
  /** The headers where a proxy of FORWARDED_ALLOW_IPS sent them, whose word about its users counts. */
  readonly proxied?: IncomingHttpHeaders | undefined;
  /** The caller is only looked at again and did nothing: that is no sign of life. */
  readonly isSilent?: boolean;
}

/** Credentials that may have lost or changed their meaning: an account's, one session's, or possibly all. */
export type CredentialChange =
  | { readonly userId: string }
  | { readonly sessionId: string }
  | { readonly all: true };

/** Whether a change may invalidate or alter an authenticated principal. */
export function concerns(change: CredentialChange, { userId, session, viewer }: Principal): boolean {
  if ("userId" in change) {
    return change.userId === userId || change.userId === viewer?.id;
  }
  return "sessionId" in change ? change.sessionId === session?.id : true;
}

/** The one place that turns a credential into a principal, for HTTP and sockets alike. */
export interface Authenticator {
  /** Lower-case name of the header that may carry a key (CUSTOM_API_KEY_HEADER). */
  keyHeader(): string;
  /**
   * Resolves to the caller. Throws `unauthenticated` for an unknown, expired or revoked credential and
   * `forbidden` for a key that is switched off, not permitted or not allowed on this path.
   */
  authenticate(credential: Credential, request: RequestFacts): Promise<Principal> | Principal;
  /** `handler` runs on every replica after a change; what is authenticated from then on knows of it. */
  onChange(handler: (change: CredentialChange) => void): void;
}

export const authenticator = defineService<Authenticator>("authenticator");
