import type { MaybePromise } from "#kernel/maybe-promise.ts";
import type { CallContext, MessageSupport, ProviderModel } from "#kernel/completion/provider.ts";
import { AppError, ProviderError } from "#kernel/errors.ts";
import { readText } from "#kernel/upstream/read-text.ts";

export interface CountCall {
  readonly support: MessageSupport | undefined;
  /** The request whose prompt is counted. */
  prompt(): MaybePromise<Readonly<Record<string, unknown>>>;
  readonly context: CallContext;
  readonly headers: Readonly<Record<string, string>>;
  readonly query: string;
}

/** Keys that say nothing about the prompt; strict upstreams refuse them in a count. */
const notCounted = new Set([
  "max_tokens",
  "stream",
  "temperature",
  "top_p",
  "top_k",
  "stop_sequences",
  "metadata",
  "service_tier",
  "reasoning_effort",
  "container",
  "inference_geo",
]);

const largestAnswer = 1024 * 1024;

/**
 * Has the upstream count the tokens of a request. Core API, vendor messages rule 8: throws `upstream` where it cannot
 * count or answers something else; what it refuses for the request's own sake is passed on.
 */
export async function countTokens({ support, prompt, context, headers, query }: CountCall): Promise<number> {
  if (support?.countTokens === undefined) {
    throw cannotCount();
  }
  const counted = Object.entries(await prompt()).filter(([key]) => !notCounted.has(key));
  const text = JSON.stringify({ ...Object.fromEntries(counted), model: support.upstreamId });
  try {
    const upstream = await support.countTokens({ ...context, headers, query, body: text, isStream: false });
    return toCount(await readText(upstream.body, largestAnswer, context.signal));
  } catch (error) {
    throw error instanceof ProviderError && !isRefusal(error) ? cannotCount(error) : error;
  }
}

/** Failures in a row after which an upstream counts as unable to count a model's tokens. */
const mostFailures = 3;

/** Milliseconds for which such an upstream is not asked again. */
const pauseMs = 10 * 60_000;

/** Milliseconds after which a count beside a reply is given up. */
const timeLimitMs = 10_000;

/** Counts up front, for the first event of a stream. */
export interface UpFrontCounter {
  /** Resolves to undefined when it did not work; undefined at once where the upstream is known to be unable. */
  begin(model: ProviderModel, call: CountCall): Promise<number | undefined> | undefined;
}

/** Core API, vendor messages rule 6: best effort, no request fails for it. */
export function createUpFrontCounter(now: () => number = () => performance.now()): UpFrontCounter {
  const failures = new WeakMap<ProviderModel, { inRow: number; last: number }>();
  const fail = (model: ProviderModel) =>
    failures.set(model, { inRow: (failures.get(model)?.inRow ?? 0) + 1, last: now() });
  const isPaused = (model: ProviderModel) => {
    const { inRow, last } = failures.get(model) ?? { inRow: 0, last: 0 };
    return inRow >= mostFailures && last + pauseMs > now();
  };
  return {
    begin(model, call) {
      if (call.support?.countTokens === undefined || isPaused(model)) {
        return undefined;
      }
      const timeout = AbortSignal.timeout(timeLimitMs);
      const signal = AbortSignal.any([call.context.signal, timeout]);
      const counting = countTokens({ ...call, context: { ...call.context, signal } });
      return counting.then(
        (count) => {
          failures.delete(model);
          return count;
        },
        (error: unknown) => {
          if (timeout.aborted || isUnable(error)) {
            fail(model);
          }
          return undefined;
        },
      );
    },
  };
}

function toCount(text: string): number {
  let count: unknown;
  try {
    count = (JSON.parse(text) as { input_tokens?: unknown } | null)?.input_tokens;
  } catch {
    // Reported below.
  }
  if (typeof count !== "number" || !Number.isInteger(count) || count < 0) {
    throw new AppError("upstream", "The provider's answer is not a count of tokens.");
  }
  return count;
}

/** Whether the upstream refused this one request: too many of them, or an error in the format's own shape. */
function isRefusal({ status, body }: ProviderError): boolean {
  if (status === 429) {
    return true;
  }
  try {
    return [400, 401, 403, 413].includes(status) && (JSON.parse(body) as { type?: unknown }).type === "error";
  } catch {
    return false;
  }
}

/**
 * Whether the upstream does not know how to count: it answers something else, or not at all. An untyped 401 or 403 comes
 * from a gateway that does not know the path.
 */
function isUnable(error: unknown): boolean {
  if (!(error instanceof AppError) || error.code !== "upstream") {
    return false;
  }
  const { cause } = error;
  return (
    cause === undefined ||
    (cause instanceof ProviderError && [401, 403, 404, 405, 501].includes(cause.status))
  );
}

/** Clients repeat a request that failed on the server's side; `x-should-retry` spares them that for a permanent failure. */
export function cannotCount(cause?: unknown): AppError {
  const isPermanent = !(cause instanceof ProviderError) || cause.status < 500 || cause.status === 501;
  return new AppError("upstream", "The provider of this model cannot count tokens.", {
    cause,
    ...(isPermanent && { headers: { "x-should-retry": "false" } }),
  });
}
