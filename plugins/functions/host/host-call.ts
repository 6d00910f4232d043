import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import type { Json } from "#kernel/sandbox.ts";
import type { Capabilities } from "../calls/facts.ts";

/** One call of a function, as its host functions see it. */
export interface HostCall {
  readonly id: string;
  readonly capabilities: Capabilities;
  /** The caller; undefined when the server itself acts: then nothing that needs a person works. */
  readonly principal: Principal | undefined;
  readonly chatId?: string | undefined;
  readonly messageId?: string | undefined;
  readonly sessionId?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The caller. Throws `forbidden` where the server itself acts. */
export function requirePerson({ principal }: HostCall): Principal {
  if (principal === undefined) {
    throw new AppError("forbidden", "No person called this function, so it can act for nobody.");
  }
  return principal;
}

/** The value as an object; an empty one for what is none. */
export function toBag(value: unknown): Readonly<Record<string, Json>> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, Json>>)
    : {};
}
