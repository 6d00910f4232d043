import { AppError } from "#kernel/errors.ts";

/** The refusal of an address that is not public. */
export function toAddressRefusal(): AppError {
  return new AppError("forbidden", "The address is private or reserved, and may not be reached from here.");
}

/** The end of a request that took longer than its total time. */
export function toTimeLimit(): AppError {
  return new AppError("timeout", "The upstream did not finish in time.");
}

/** The end of an answer that is larger than the caller accepts, compressed or not. */
export function toSizeLimit(): AppError {
  return new AppError("upstream", "The upstream's answer is larger than allowed.");
}

/** A redirect that may not be followed. */
export function toRedirectRefusal(): AppError {
  return new AppError("upstream", "The upstream answered with a redirect, which is not followed.");
}

/** Headers that cannot be sent. */
export function toHeaderRefusal(cause: unknown): AppError {
  return new AppError(...malformed, { cause });
}

/**
 * Turns what broke an outbound request into an AppError ("timeout", "upstream", "forbidden", "invalid").
 * The reason of the caller's own signal comes back as it is.
 */
export function toEgressError(error: unknown, signal?: AbortSignal): Error {
  if (signal?.aborted && isCausedBy(error, signal.reason)) {
    return signal.reason instanceof Error ? signal.reason : new DOMException("Aborted", "AbortError");
  }
  const chain = listCauses(error);
  const known = chain.find((each) => each instanceof AppError);
  if (known) {
    return known;
  }
  const code = chain.map(codeOf).findLast((each) => each !== undefined) ?? "";
  const [kind, text] = texts[code] ?? (isCertificateProblem(code) ? certificate : unreachable);
  return new AppError(kind, text, { cause: error });
}

type Meaning = readonly ["timeout" | "upstream" | "invalid" | "forbidden", string];

const certificate: Meaning = ["upstream", "The upstream's certificate could not be verified."];
const unreachable: Meaning = ["upstream", "The upstream could not be reached."];
const unresolved: Meaning = ["upstream", "The upstream's name could not be resolved."];
const broken: Meaning = ["upstream", "The upstream closed the connection."];
const late: Meaning = ["timeout", "The upstream could not be reached in time."];
const silent: Meaning = ["timeout", "The upstream did not answer in time."];
const garbled: Meaning = ["upstream", "The upstream's answer could not be understood."];
const malformed: Meaning = ["invalid", "The request to the upstream has an invalid header or address."];

const texts: Readonly<Record<string, Meaning>> = {
  ENOTFOUND: unresolved,
  EAI_AGAIN: unresolved,
  EAI_FAIL: unresolved,
  ECONNREFUSED: ["upstream", "The upstream refused the connection."],
  ECONNRESET: broken,
  EPIPE: broken,
  UND_ERR_SOCKET: broken,
  UND_ERR_CLOSED: broken,
  UND_ERR_DESTROYED: broken,
  ETIMEDOUT: late,
  UND_ERR_CONNECT_TIMEOUT: late,
  UND_ERR_HEADERS_TIMEOUT: silent,
  UND_ERR_BODY_TIMEOUT: ["timeout", "The upstream fell silent."],
  UND_ERR_HEADERS_OVERFLOW: garbled,
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: broken,
  BAD_PORT: ["forbidden", "The address has a port that is kept for something other than HTTP."],
  UND_ERR_INVALID_ARG: malformed,
};

function isCertificateProblem(code: string): boolean {
  return /CERT|^UNABLE_TO_|^ERR_TLS_|^HOSTNAME_MISMATCH$|^INVALID_CA$/.test(code);
}

function isCausedBy(error: unknown, reason: unknown): boolean {
  return listCauses(error).some(
    (each) => each === reason || (each as Error | undefined)?.name === "AbortError",
  );
}

function listCauses(error: unknown): unknown[] {
  const chain: unknown[] = [];
  for (
    let each = error;
    each !== undefined && each !== null && chain.length < 8;
    each = (each as Error).cause
  ) {
    chain.push(each);
  }
  return chain;
}

function codeOf(error: unknown): string | undefined {
  const { name, code, message } = error as NodeJS.ErrnoException;
  // Neither has a code of its own.
  if (name === "HTTPParserError" || message === "bad port") {
    return name === "HTTPParserError" ? "UND_ERR_HEADERS_OVERFLOW" : "BAD_PORT";
  }
  return typeof code === "string" ? code : undefined;
}
