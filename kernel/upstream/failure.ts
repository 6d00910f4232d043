import { AppError, ProviderError } from "#kernel/errors.ts";

/**
 * What a caller is told when a call to a provider broke: its own abort as it stands, AppError `timeout` when the
 * provider was too slow, AppError `upstream` otherwise. Addresses and causes stay in `cause`.
 */
export function toUpstreamError(error: unknown, signal?: AbortSignal): unknown {
  if (error instanceof ProviderError) {
    return error;
  }
  if (signal?.aborted) {
    return isTimeout(signal.reason) ? timedOut(signal.reason) : signal.reason;
  }
  if (error instanceof AppError) {
    return error;
  }
  if (isTimeout(error)) {
    return timedOut(error);
  }
  return new AppError("upstream", "The provider cannot be reached or broke off its answer.", {
    cause: error,
  });
}

function timedOut(cause: unknown): AppError {
  return new AppError("timeout", "The provider did not answer in time.", { cause });
}

function isTimeout(error: unknown): boolean {
  if (!(error instanceof Error)) {
    return false;
  }
  const { code } = error as NodeJS.ErrnoException;
  return error.name === "TimeoutError" || code === "ETIMEDOUT" || /^UND_ERR_.*TIMEOUT$/.test(String(code));
}
