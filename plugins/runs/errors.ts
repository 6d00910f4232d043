import { randomUUID } from "node:crypto";
import { AppError, ProviderError } from "#kernel/errors.ts";
import { providerText } from "#kernel/http/errors.ts";
import type { Logger } from "#kernel/log.ts";

/** The text of a run's failure for people; an unexpected one is logged under an id, and only the id is shown. */
export function toErrorText(error: unknown, log: Logger): string {
  if (error instanceof ProviderError) {
    return providerText(error);
  }
  if (error instanceof AppError) {
    return error.message;
  }
  const id = randomUUID();
  log.error({ err: error, id }, "a run failed");
  return `Something went wrong on the server (${id}).`;
}

/** What keeps a reply from being whole, and when to try again. */
export const toFailure = (error: unknown, log: Logger) => ({
  error: toErrorText(error, log),
  retryAt: toRetryAt(error),
});

/** Epoch seconds from which a new try makes sense, by what the provider's refusal says; undefined where it does not. */
function toRetryAt(error: unknown): number | undefined {
  const seconds = error instanceof ProviderError ? readRetry(error.headers) : undefined;
  const wait = error instanceof AppError ? error.retryAfter : seconds;
  return wait === undefined || !(wait > 0) ? undefined : Math.ceil(Date.now() / 1000 + wait);
}

/** Seconds, or a date. */
function readRetry(headers: Readonly<Record<string, string>>): number | undefined {
  const ms = headers["retry-after-ms"];
  const text = headers["retry-after"];
  if (ms !== undefined && ms.trim() !== "") {
    return Number(ms) / 1000;
  }
  if (text === undefined || text.trim() === "") {
    return undefined;
  }
  return Number.isNaN(Number(text)) ? (Date.parse(text) - Date.now()) / 1000 : Number(text);
}
