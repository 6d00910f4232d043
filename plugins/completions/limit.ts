import type { ConcurrencyLimit } from "#kernel/account-limits.ts";
import { mapBatches } from "#kernel/completion/map-batches.ts";
import type { ChunkBatch } from "#kernel/completion/provider.ts";
import type { Completions, RunAnswer } from "./service.ts";

/**
 * The same completions, as many at once as an account may have (`LIMIT_CONCURRENT_COMPLETIONS`). One counts until its
 * answer has been read to the end, or its caller has left.
 */
export function limitCompletions(inner: Completions, limit: ConcurrencyLimit): Completions {
  return {
    async run(request, context) {
      const leave = limit.enter(context.principal.userId);
      context.signal.addEventListener("abort", leave, { once: true });
      try {
        return untilRead(await inner.run(request, context), leave);
      } catch (error) {
        leave();
        throw error;
      }
    },
    async admit(request, context) {
      // Whoever asks for too many is told at once; one counts as soon as it is opened.
      limit.require(context.principal.userId);
      const admitted = await inner.admit(request, context);
      return {
        ...admitted,
        async open(asked, place) {
          const leave = limit.enter(place.principal.userId);
          try {
            const run = await admitted.open(asked, place);
            return { ...run, close: () => run.close().finally(leave) };
          } catch (error) {
            leave();
            throw error;
          }
        },
      };
    },
  };
}

function untilRead(answer: RunAnswer, leave: () => void): RunAnswer {
  if (answer.kind === "whole") {
    leave();
    return answer;
  }
  if (answer.kind === "raw") {
    answer.upstream.body.once("close", leave);
    return answer;
  }
  const chunks = () => mapBatches(answer.chunks(), { next: (batch: ChunkBatch) => batch, close: leave });
  return { ...answer, chunks };
}
