import { createHash, timingSafeEqual } from "node:crypto";
import { AppError } from "#kernel/errors.ts";

/** Settings that decide whether a caller is let in. */
export interface GateConfig {
  readonly enabled: boolean;
  readonly token: string;
}

/**
 * Lets the identity provider in. Off, another scheme and a wrong token are one answer: 401 (document 2, Errors). The
 * comparison takes as long for every token (security case S109).
 */
export function requireProvider({ enabled, token }: GateConfig, header: string | undefined): void {
  const given = /^Bearer +(\S+) *$/i.exec(header ?? "")?.[1] ?? "";
  const isRight = timingSafeEqual(digest(given), digest(token));
  if (!enabled || token === "" || !isRight) {
    throw new AppError("unauthenticated", "SCIM is switched off, or the bearer token is not the right one.");
  }
}

/** Of one length, whatever the token's. */
function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
