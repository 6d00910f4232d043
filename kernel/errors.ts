/** The closed list of failures; `kernel/http/errors.ts` alone turns a code into a status. */
export type ErrorCode =
  | "invalid" // a value that is wrong in itself or in this state: 400
  | "unprocessable" // input that does not fit the declared shape: 422, or 400 where the surface says so
  | "unauthenticated" // no credential, or a bad one: 401
  | "forbidden" // known caller without the role, permission or feature: 403
  | "not_found" // does not exist, or the caller may not know that it does: 404
  | "method_not_allowed" // the path exists, the method does not: 405
  | "request_timeout" // the request's body did not arrive in time: 408
  | "conflict" // taken name, concurrent edit, idempotency conflict: 409
  | "too_large" // body or file over its limit: 413
  | "rate_limited" // too many tries: 429
  | "unavailable" // a part that is needed is switched off or does not answer: 503
  | "upstream" // an upstream answered wrongly: 502
  | "timeout"; // an upstream did not answer in time: 504

export interface AppErrorOptions {
  /** The cause; logged, never sent. */
  cause?: unknown;
  /** Seconds after which a new try makes sense; sent as Retry-After. */
  retryAfter?: number;
  /** Further response headers. */
  headers?: Record<string, string | string[]>;
  /** A word for programs, sent where the surface's error shape has a place for one, such as SCIM's `scimType`. */
  reason?: string;
}

/** A failure that the caller is told about: `detail` is sent as it stands, so it names nothing internal. */
export class AppError extends Error {
  override readonly name = "AppError";
  readonly code: ErrorCode;
  readonly detail: unknown;
  readonly retryAfter: number | undefined;
  readonly headers: Record<string, string | string[]>;
  readonly reason: string | undefined;

  constructor(code: ErrorCode, detail: unknown, options: AppErrorOptions = {}) {
    super(typeof detail === "string" ? detail : code, { cause: options.cause });
    this.code = code;
    this.detail = detail;
    this.retryAfter = options.retryAfter;
    this.headers = options.headers ?? {};
    this.reason = options.reason;
  }
}

export interface ProviderErrorFacts {
  /** The upstream's own HTTP status, 400 to 599. */
  status: number;
  /** The upstream's own body, passed on unchanged. */
  body: string;
  contentType: string;
  /** Retry-After and retry-after-ms, when the upstream sent them. */
  headers: Record<string, string>;
}

/** A provider's refusal; its status, body and retry headers reach the caller. Core API, chat completion rule 10. */
export class ProviderError extends Error {
  override readonly name = "ProviderError";
  readonly status: number;
  readonly body: string;
  readonly contentType: string;
  readonly headers: Record<string, string>;

  constructor(facts: ProviderErrorFacts) {
    super(`the provider answered ${facts.status}`);
    this.status = facts.status;
    this.body = facts.body;
    this.contentType = facts.contentType;
    this.headers = facts.headers;
  }
}
