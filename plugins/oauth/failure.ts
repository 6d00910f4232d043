import {
  AuthorizationResponseError,
  ClientError,
  ResponseBodyError,
  WWWAuthenticateChallengeError,
} from "openid-client";
import { AppError } from "#kernel/errors.ts";

/** Words of `/auth?error=` (appendix A6): the sign-in page has a text for each. */
export type SignInError =
  | "access_denied"
  | "state"
  | "provider"
  | "provider_silent"
  | "not_set_up"
  | "no_email"
  | "domain"
  | "role"
  | "no_sign_up"
  | "address_taken"
  | "address_unverified"
  | "other_person"
  | "refused";

/** A sign-in that cannot go on; `detail` is for administrators, the word for who signs in. */
export class SignInFailure extends Error {
  override readonly name = "SignInFailure";
  readonly word: SignInError;

  constructor(word: SignInError, detail: string, options?: ErrorOptions) {
    super(detail, options);
    this.word = word;
  }
}

const fromAccounts = new Set<string | undefined>([
  "no_sign_up",
  "address_taken",
  "address_unverified",
  "other_person",
]);

/** Any failure of a sign-in as one with a word. */
export function toFailure(error: unknown): SignInFailure {
  if (error instanceof SignInFailure) {
    return error;
  }
  if (error instanceof AppError) {
    const isSilent = error.code === "timeout";
    const word = fromAccounts.has(error.reason)
      ? (error.reason as SignInError)
      : error.code === "upstream" || isSilent
        ? isSilent
          ? "provider_silent"
          : "provider"
        : "refused";
    return new SignInFailure(word, String(error.detail), { cause: error });
  }
  if (error instanceof AuthorizationResponseError) {
    const word = error.error === "access_denied" ? "access_denied" : "provider";
    return new SignInFailure(word, says(error.error, error.error_description), { cause: error });
  }
  if (error instanceof ResponseBodyError) {
    return new SignInFailure("provider", says(error.error, error.error_description), { cause: error });
  }
  if (error instanceof WWWAuthenticateChallengeError) {
    return new SignInFailure("provider", "The provider refuses its own token.", { cause: error });
  }
  const { cause } = error as { cause?: unknown };
  if (cause instanceof AppError || cause instanceof SignInFailure) {
    return toFailure(cause);
  }
  if (error instanceof ClientError && error.code === "OAUTH_TIMEOUT") {
    return new SignInFailure("provider_silent", "The provider did not answer in time.", { cause: error });
  }
  return new SignInFailure("provider", toReason(error), { cause: error });
}

function says(error: string, description: string | undefined): string {
  const text = description === undefined ? error : `${error}: ${description}`;
  return `The provider says ${text.slice(0, 500)}`;
}

/** The innermost words: the outer ones of the library name only the kind. */
function toReason(error: unknown): string {
  const lines: string[] = [];
  let at: unknown = error;
  while (at instanceof Error && lines.length < 4) {
    if (!lines.includes(at.message)) {
      lines.push(at.message);
    }
    at = at.cause;
  }
  return (lines.join(": ") || String(error)).slice(0, 500);
}
