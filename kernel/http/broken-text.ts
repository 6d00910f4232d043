import { isUnstorableText } from "#storage/errors.ts";
import { AppError, ProviderError } from "#kernel/errors.ts";

/**
 * Runs a handler. Where it fails and the body holds a NUL or half a character, which neither the database nor an
 * address can take, the failure names that field; others are thrown as they are.
 */
export async function blameBrokenText(body: unknown, handle: () => unknown): Promise<unknown> {
  try {
    return await handle();
  } catch (error) {
    const isTold = error instanceof AppError || error instanceof ProviderError;
    const path = isTold && !isUnstorableText(error) ? undefined : findBroken(body, ["body"], 0);
    throw path === undefined ? error : brokenText(path, error);
  }
}

/** What is wrong with a value that no database takes. */
export function brokenText(loc: readonly (string | number)[], cause?: unknown): AppError {
  const msg = "holds a NUL character or a broken character, which cannot be stored";
  return new AppError("unprocessable", [{ type: "value_error", loc, msg }], { cause });
}

const deepest = 200;

/** The path to the first broken text, keys of objects included. */
function findBroken(
  value: unknown,
  path: readonly (string | number)[],
  depth: number,
): readonly (string | number)[] | undefined {
  if (typeof value === "string") {
    return value.includes("\0") || !value.isWellFormed() ? path : undefined;
  }
  if (typeof value !== "object" || value === null || depth > deepest) {
    return undefined;
  }
  for (const [key, part] of Object.entries(value)) {
    const at = [...path, Array.isArray(value) ? Number(key) : key.toWellFormed()];
    const found = findBroken(key, at, depth) ?? findBroken(part, at, depth + 1);
    if (found) {
      return found;
    }
  }
  return undefined;
}
