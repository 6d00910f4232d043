import { randomUUID } from "node:crypto";
import { AppError, ProviderError } from "#kernel/errors.ts";
import { providerText } from "#kernel/http/errors.ts";
import type { Logger } from "#kernel/log.ts";

/** What people read of a run's failure; what is unexpected is logged under an id, and only the id is told. */
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
