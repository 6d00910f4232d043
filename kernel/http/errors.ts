import type { OutgoingHttpHeaders } from "node:http";
import { ConfigError } from "#config/registry.ts";
import { isDiskFull, isReadOnlyDisk, isUnavailable, isUnstorableText } from "#storage/errors.ts";
import { diskIsFull, diskIsReadOnly } from "#kernel/disk.ts";
import { InvalidGrantError } from "#storage/grants.ts";
import { AppError, type ErrorCode, ProviderError } from "#kernel/errors.ts";
import type { ErrorShape } from "./surfaces.ts";
import { toJson } from "./json.ts";
import { providerWords } from "./provider-words.ts";

/** A failure, ready to be written. */
export interface ErrorAnswer {
  readonly status: number;
  readonly headers: OutgoingHttpHeaders;
  readonly body: string;
  /** True when the cause is ours and has to be logged with its stack. */
  readonly unexpected: boolean;
}

export interface ErrorContext {
  readonly shape: ErrorShape;
  /** Status of `unprocessable`: 422, or 400 where the surface says so. */
  readonly invalidStatus: 400 | 422;
  readonly requestId: string;
  /** The disk's problem in a sentence, in place of the words for a database that is away. */
  readonly diskProblem?: string | undefined;
}

const statuses: Record<ErrorCode, number> = {
  invalid: 400,
  unprocessable: 422,
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  request_timeout: 408,
  conflict: 409,
  too_large: 413,
  rate_limited: 429,
  unavailable: 503,
  upstream: 502,
  timeout: 504,
};

/** Turns whatever was thrown into status, headers and a body in the surface's shape (contract D.1 and D.2). */
export function toErrorAnswer(error: unknown, context: ErrorContext): ErrorAnswer {
  if (error instanceof ProviderError) {
    return fromProvider(error, context);
  }
  if (error instanceof AppError) {
    const status = error.code === "unprocessable" ? context.invalidStatus : statuses[error.code];
    const headers: OutgoingHttpHeaders = { ...error.headers };
    if (error.retryAfter !== undefined) {
      headers["retry-after"] = String(Math.max(1, Math.ceil(error.retryAfter)));
    }
    if (status === 401) {
      headers["www-authenticate"] ??= "Bearer";
    }
    if (context.shape === "scim") {
      return toScimAnswer(error, status, headers);
    }
    return { status, headers, body: encode(context.shape, status, error.detail), unexpected: false };
  }
  if (error instanceof ConfigError) {
    return toErrorAnswer(
      new AppError("unprocessable", [
        { type: "value_error", loc: ["body", error.variable], msg: error.message, input: null },
      ]),
      context,
    );
  }
  if (error instanceof InvalidGrantError) {
    return toErrorAnswer(new AppError("invalid", `${error.message}.`), context);
  }
  if (isUnstorableText(error)) {
    return toErrorAnswer(
      new AppError(
        "invalid",
        "The request holds a NUL character or a broken character, which cannot be stored.",
      ),
      context,
    );
  }
  if (isDiskFull(error) || isReadOnlyDisk(error)) {
    const message = isDiskFull(error) ? diskIsFull : diskIsReadOnly;
    return toErrorAnswer(new AppError("unavailable", message, { retryAfter: 60 }), context);
  }
  if (isUnavailable(error)) {
    const away = "The database does not answer right now. Try again in a moment.";
    const message = context.diskProblem ?? away;
    return toErrorAnswer(new AppError("unavailable", message, { retryAfter: 1 }), context);
  }
  const detail = `Internal error. Tell your administrator this reference: ${context.requestId}`;
  const headers = context.shape === "scim" ? { "content-type": scimMediaType } : {};
  return { status: 500, headers, body: encode(context.shape, 500, detail), unexpected: true };
}

/** Media type of every SCIM body (RFC 7644, 3.1). */
export const scimMediaType = "application/scim+json";

/** The words of RFC 7644, 3.12, for failures that the kernel finds itself. */
const scimReasons: Partial<Record<ErrorCode, string>> = {
  invalid: "invalidSyntax",
  unprocessable: "invalidValue",
  conflict: "uniqueness",
};

function toScimAnswer(error: AppError, status: number, headers: OutgoingHttpHeaders): ErrorAnswer {
  const body = encode("scim", status, error.detail, error.reason ?? scimReasons[error.code]);
  return { status, headers: { ...headers, "content-type": scimMediaType }, body, unexpected: false };
}

/** The last frame of a stream of the vendor message format that fails midway. */
export function toErrorEvent(error: unknown, requestId: string): string {
  const { body } = toErrorAnswer(error, { shape: "message", invalidStatus: 400, requestId });
  return `event: error\ndata: ${JSON.stringify(JSON.parse(body))}\n\n`;
}

/** The object a streamed answer carries when it fails midway: `{error: {message, type, code}}`. */
export function toErrorFrame(error: unknown, requestId: string): string {
  if (error instanceof ProviderError && isJsonObject(error.body)) {
    return error.body;
  }
  return toErrorAnswer(error, { shape: "compat", invalidStatus: 400, requestId }).body;
}

function fromProvider(error: ProviderError, { shape }: ErrorContext): ErrorAnswer {
  const headers = { ...error.headers };
  // An upstream of the vendor's own format says it best itself.
  if (shape === "message" ? isVendorError(error.body) : isJsonObject(error.body)) {
    return { status: error.status, headers, body: error.body, unexpected: false };
  }
  return {
    status: error.status,
    headers,
    body: encode(shape, error.status, providerText(error)),
    unexpected: false,
  };
}

function encode(shape: ErrorShape, status: number, detail: unknown, reason?: string): string {
  const message = toText(detail);
  switch (shape) {
    case "detail":
      return toJson({ detail });
    case "runtime":
      return toJson({ error: message });
    case "compat":
      return toJson({ error: { message, type: typeOf(status), code: status } });
    case "both":
      return toJson({ detail, error: { message, type: typeOf(status), code: status } });
    case "message":
      return toJson({ type: "error", error: { type: vendorTypeOf(status), message } });
    case "scim":
      return toJson({
        schemas: ["urn:ietf:params:scim:api:messages:2.0:Error"],
        status: String(status),
        ...(reason !== undefined && { scimType: reason }),
        detail: message,
      });
  }
}

function typeOf(status: number): string {
  return status === 401
    ? "authentication_error"
    : status === 403
      ? "permission_error"
      : status === 404
        ? "not_found_error"
        : status === 429
          ? "rate_limit_error"
          : status < 500
            ? "invalid_request_error"
            : "server_error";
}

/** Error types of the vendor's message format that have a status of their own. */
const vendorTypes: Readonly<Record<number, string>> = {
  402: "billing_error",
  409: "conflict_error",
  413: "request_too_large",
  503: "overloaded_error",
  504: "timeout_error",
  529: "overloaded_error",
};

function vendorTypeOf(status: number): string {
  return vendorTypes[status] ?? (status >= 500 ? "api_error" : typeOf(status));
}

/** Validation details become one readable line where a shape has room for a text only. */
function toText(detail: unknown): string {
  if (typeof detail === "string") {
    return detail;
  }
  if (Array.isArray(detail)) {
    return detail
      .map((entry: { loc?: unknown[]; msg?: string }) => `${entry.loc?.join(".") ?? ""}: ${entry.msg ?? ""}`)
      .join("; ");
  }
  return toJson(detail);
}

/** What a provider's refusal says, for people. */
export function providerText(error: ProviderError): string {
  return providerWords(error.body) ?? `The provider answered with status ${error.status}.`;
}

function isVendorError(text: string): boolean {
  try {
    const { type, error } = JSON.parse(text) as { type?: unknown; error?: { type?: unknown } };
    return type === "error" && typeof error?.type === "string";
  } catch {
    return false;
  }
}

function isJsonObject(text: string): boolean {
  if (!/^\s*\{/.test(text)) {
    return false;
  }
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
