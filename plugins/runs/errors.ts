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
