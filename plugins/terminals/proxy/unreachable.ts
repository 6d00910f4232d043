import { AppError } from "#kernel/errors.ts";

/** Core API, errors: a terminal that cannot be reached answers 503. */
export function toUnreachable(error: unknown): unknown {
  const isAway = error instanceof AppError && /^(?:upstream|timeout)$/.test(error.code);
  return isAway
    ? new AppError("unavailable", `The terminal server cannot be reached: ${error.message}`, { cause: error })
    : error;
}
