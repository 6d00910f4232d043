import { setTimeout as pause } from "node:timers/promises";
import { AppError } from "#kernel/errors.ts";
import type { Principal } from "./principal.ts";

const concurrency = 16;
const retryMs = 1_000;

/**
 * Authenticates an open connection again. Resolves to the caller, to the AppError `unauthenticated` or `forbidden` that
 * ends the connection, or to undefined when the connection closed meanwhile.
 */
export async function reauthorize(
  isOpen: () => boolean,
  authenticate: () => Promise<Principal> | Principal,
): Promise<Principal | AppError | undefined> {
  while (isOpen()) {
    try {
      return await authenticate();
    } catch (error) {
      if (error instanceof AppError && /^(unauthenticated|forbidden)$/.test(error.code)) {
        return error;
      }
      // The database is away: connections stay open, and the check is repeated.
      await pause(retryMs, undefined, { ref: false });
    }
  }
  return undefined;
}

/** Reauthorizes a list with bounded concurrency: one change may concern every connection. */
export async function reauthorizeAll<T>(list: readonly T[], check: (one: T) => Promise<void>): Promise<void> {
  const queue = list[Symbol.iterator]();
  const work = async () => {
    for (const one of queue) {
      await check(one);
    }
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, list.length) }, work));
}
