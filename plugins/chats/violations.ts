import { AppError } from "#kernel/errors.ts";
import { isUniqueViolation } from "#storage/errors.ts";

/** Runs a change; when another writer took away what it builds on, or took an id, it fails with a clear `conflict`. */
export async function withClearConflicts<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (isForeignKeyViolation(error)) {
      throw new AppError(
        "conflict",
        "Something this change builds on was deleted meanwhile. Reload the chat.",
        {
          cause: error,
        },
      );
    }
    if (isUniqueViolation(error) !== undefined) {
      throw new AppError("conflict", "A message with this id exists in the chat already.", { cause: error });
    }
    throw error;
  }
}

function isForeignKeyViolation(error: unknown): boolean {
  for (let at = error; at instanceof Error; at = at.cause) {
    if ((at as { code?: unknown }).code === "23503") {
      return true;
    }
  }
  return false;
}
