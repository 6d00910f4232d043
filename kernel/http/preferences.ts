import type { IncomingMessage } from "node:http";
import { AppError, type ErrorCode } from "#kernel/errors.ts";
import type { ErrorAnswer } from "./errors.ts";

/** Preferences (RFC 7240) of those who ask whether something is there, or who they are. */
const preferences: Partial<Record<ErrorCode, string>> = {
  not_found: "absent=null",
  unauthenticated: "anonymous=null",
};

/** Answers `null` instead of a refusal to pages that prefer it: browsers report every 4xx as an error of the page. */
export function asPreferred(
  error: unknown,
  refusal: ErrorAnswer,
  { method, headers }: IncomingMessage,
): ErrorAnswer {
  const preference = error instanceof AppError ? preferences[error.code] : undefined;
  if (method !== "GET" || preference === undefined || headers["prefer"] !== preference) {
    return refusal;
  }
  const applied = { ...refusal.headers, "preference-applied": preference };
  return { ...refusal, status: 200, headers: applied, body: "null" };
}
