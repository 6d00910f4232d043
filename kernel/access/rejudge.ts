import { setTimeout as pause } from "node:timers/promises";
import { AppError } from "#kernel/errors.ts";
import type { Principal } from "./principal.ts";

const atOnce = 16;
const retryMs = 1_000;

/**
 * Lets in anew who was let in before. Resolves to the caller, to the AppError `unauthenticated` or `forbidden` that
 * turns them away, or to undefined when nobody is left to be judged.
 */
export async function judgeAgain(
  isOpen: () => boolean,
  admit: () => Promise<Principal> | Principal,
): Promise<Principal | AppError | undefined> {
  while (isOpen()) {
    try {
      return await admit();
    } catch (error) {
      if (error instanceof AppError && /^(unauthenticated|forbidden)$/.test(error.code)) {
        return error;
      }
      // The database is away: nobody is turned away for that, and nobody is forgotten either.
      await pause(retryMs, undefined, { ref: false });
    }
  }
  return undefined;
}

/** Judges all of a list, a few at a time: a change may concern everybody at once. */
export async function judgeAll<T>(list: readonly T[], judge: (one: T) => Promise<void>): Promise<void> {
  const queue = list[Symbol.iterator]();
  const work = async () => {
    for (const one of queue) {
      await judge(one);
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, list.length) }, work));
}
