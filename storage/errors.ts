/** The database cannot be opened or used as configured; the message is meant for the operator. */
export class StorageError extends Error {
  override readonly name: string = "StorageError";
}

/** The database or the object store does not answer now; the same call may succeed later. */
export class UnavailableError extends Error {
  override readonly name = "UnavailableError";
}

/** True when the database could not be reached or broke off: answer 503 with Retry-After, the call may be repeated. */
export function isUnavailable(error: unknown): boolean {
  return causes(error).some((cause) => {
    if (cause instanceof UnavailableError) {
      return true;
    }
    const code = typeof cause.code === "string" ? cause.code : "";
    return (
      UNAVAILABLE_CODES.has(code) ||
      code.startsWith("08") ||
      (code === "0A000" && STALE_PLAN.test(String(cause.message))) ||
      UNAVAILABLE_MESSAGES.test(String(cause.message))
    );
  });
}

/** True when a disk is full: that of the files, or the database's. */
export function isDiskFull(error: unknown): boolean {
  return causes(error).some(({ code }) => ["ENOSPC", "EDQUOT", "EFBIG", "53100"].includes(String(code)));
}

/** True when a disk takes no writes. */
export function isReadOnlyDisk(error: unknown): boolean {
  return causes(error).some(({ code }) => code === "EROFS");
}

/** True when the database answered that it does not take these values, now or later. */
export function isRefused(error: unknown): boolean {
  // Data exceptions, violated constraints, unknown names, exceeded limits of the program, what a trigger raises.
  return causes(error).some(({ code }) => typeof code === "string" && /^(?:22|23|42|54|P0)/.test(code));
}

/** The violated constraint when the error says that a unique value is taken, else undefined. */
export function isUniqueViolation(error: unknown): string | undefined {
  const found = causes(error).find((cause) => cause.code === "23505");
  return found && (typeof found.constraint === "string" ? found.constraint : "unknown");
}

/** True when a text holds what the database cannot keep: a NUL character, or half of a surrogate pair. */
export function isUnstorableText(error: unknown): boolean {
  return causes(error).some(
    ({ code, message }) =>
      code === "22021" ||
      code === "22P05" ||
      (code === "22P02" && /unicode|surrogate/i.test(String(message))),
  );
}

/** True for the error a prepared statement gives after another process changed its table. */
export function isStalePlan(error: unknown): boolean {
  return (
    error instanceof Error && "code" in error && error.code === "0A000" && STALE_PLAN.test(error.message)
  );
}

/** True for the error of a statement that the server did not answer in time; its connection is of no use any more. */
export function isSilence(error: unknown): boolean {
  return error instanceof Error && error.message === SILENCE;
}

/** Messages of the driver for that. */
const SILENCE = "Query read timeout";

const STALE_PLAN = /cached plan must not change result type/;

const UNAVAILABLE_CODES = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "EPIPE",
  "ETIMEDOUT",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOTFOUND",
  "EAI_AGAIN",
  // Shut down by an administrator, crashed, still starting, too many connections, out of memory or disk.
  "57P01",
  "57P02",
  "57P03",
  "53000",
  "53100",
  "53200",
  "53300",
]);

// The driver gives these without a code.
const UNAVAILABLE_MESSAGES =
  /^(Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error|Postgres connection has been discarded|timeout expired$|Query read timeout$)/;

/** The error, its causes and the parts of aggregates, without running in circles. */
function causes(error: unknown): Record<string, unknown>[] {
  const seen = new Set<object>();
  const open: unknown[] = [error];
  while (open.length > 0) {
    const next = open.pop();
    if (typeof next === "object" && next !== null && !seen.has(next)) {
      seen.add(next);
      open.push((next as Error).cause, ...(next instanceof AggregateError ? next.errors : []));
    }
  }
  return [...seen] as Record<string, unknown>[];
}
