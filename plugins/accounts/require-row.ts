import { AppError } from "#kernel/errors.ts";

/** The value itself; throws `not_found` when there is none. */
export function requireRow<T>(value: T | null | undefined): T {
  if (value === undefined || value === null) {
    throw new AppError("not_found", "Not found");
  }
  return value;
}
