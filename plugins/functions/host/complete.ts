import { AsyncLocalStorage } from "node:async_hooks";
import type { Principal } from "#kernel/access/principal.ts";
import { createAccumulator } from "#kernel/completion/accumulate.ts";
import { CompletionRequest, platformKeys } from "#kernel/completion/request.ts";
import { AppError } from "#kernel/errors.ts";
import type { Batches, Json } from "#kernel/sandbox.ts";
import type { Completions, RunAnswer } from "#plugins/completions/service.ts";
import { createHead, fromCompletion } from "#plugins/completions/service.ts";

/** Functions that ask functions that ask functions: deeper than this is taken for a circle. */
const maxDepth = 8;

export interface HostComplete {
  /** Ids of the functions that wait for the run that goes on here, outermost first. */
  waiting(): readonly string[];
  /**
   * `host.complete({model, messages, …})` → the whole completion on the common wire, or its chunks with `stream: true`.
   * It runs as the caller: a model that the caller may not use does not exist for the function either. Filters that wait
   * for the run take no part in it, so that a filter may ask a model about what it filters.
   */
  run(call: AskingCall, args: readonly Json[]): Promise<Json | Batches>;
}

/** The function that asks. */
export interface AskingCall {
  readonly id: string;
  readonly principal: Principal;
  readonly signal: AbortSignal;
  /** The value of `waiting` when the call began. */
  readonly waiting: readonly string[];
}

export function createHostComplete(completions: Pick<Completions, "run">): HostComplete {
  const chains = new AsyncLocalStorage<readonly string[]>();
  return {
    waiting: () => chains.getStore() ?? [],
    async run({ id, principal, signal, waiting }, [given]) {
      if (waiting.length >= maxDepth) {
        throw new AppError("invalid", `Functions may ask each other at most ${maxDepth} deep.`);
      }
      const request = toRequest(given);
      return await chains.run([...waiting, id], async () => {
        const answer = await completions.run(request, { principal, signal });
        return request.stream === true ? toBatches(answer) : collectCompletion(answer, request.model);
      });
    },
  };
}

/** Nothing that binds the run to a chat of the caller is taken over. */
function toRequest(given: Json | undefined): CompletionRequest {
  const parsed = CompletionRequest.safeParse(given);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    throw new AppError("invalid", `host.complete: ${issue?.path.join(".") ?? ""} ${issue?.message ?? ""}`);
  }
  const request: Record<string, unknown> = { ...parsed.data, stream: parsed.data.stream === true };
  for (const key of platformKeys) {
    delete request[key];
  }
  return request as CompletionRequest;
}

/** Models may be told not to stream whatever the request says; the function gets chunks all the same. */
function toBatches(answer: RunAnswer): Batches {
  if (answer.kind !== "whole") {
    return answer.chunks() as AsyncIterable<readonly unknown[]> as Batches;
  }
  const whole = fromCompletion(answer.completion, createHead(answer.completion.model ?? ""));
  return (async function* () {
    yield [whole] as unknown as readonly Json[];
  })();
}

/** Models may be told to stream whatever the request says; the function gets a whole answer all the same. */
async function collectCompletion(answer: RunAnswer, model: string): Promise<Json> {
  if (answer.kind === "whole") {
    return answer.completion as unknown as Json;
  }
  const accumulator = createAccumulator();
  for await (const batch of answer.chunks()) {
    batch.forEach((chunk) => accumulator.add(chunk));
  }
  const choice = {
    index: 0,
    message: accumulator.message(),
    finish_reason: accumulator.finishReason() ?? "stop",
  };
  return {
    object: "chat.completion",
    model,
    choices: [choice],
    usage: accumulator.usage() ?? null,
  } as unknown as Json;
}
