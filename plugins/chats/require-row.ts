import { AppError } from "#kernel/errors.ts";

/** The row. Throws `not_found` when somebody took it away meanwhile. */
export function requireRow<T>(row: T | undefined): T {
  if (row === undefined) {
    throw new AppError("not_found", "Not found");
  }
  return row;
}
