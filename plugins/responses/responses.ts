import type { Principal } from "#kernel/access/principal.ts";
import type { Completion } from "#kernel/completion/chunk.ts";
import type { ChunkBatch } from "#kernel/completion/provider.ts";
import type { Upstream } from "#kernel/http/route.ts";
import { AppError } from "#kernel/errors.ts";
import type { Completions } from "#plugins/completions/service.ts";
import type { Models } from "#plugins/models/service.ts";
import type { Response } from "./response.ts";
import { ResponseWriter } from "./response-writer.ts";
import type { ResponsesRequest } from "./schema.ts";
import { toCommon } from "./to-common.ts";

export interface ResponsesParts {
  readonly completions: Completions;
  readonly models: Models;
  /** ENABLE_RESPONSES_API_STATEFUL. */
  isStateful(): boolean;
}

export interface AskedBy {
  readonly caller: Principal;
  readonly signal: AbortSignal;
  readonly userAgent: string | undefined;
  readonly requestId: string;
}

/** An answer: a provider's own, a whole response, or its events as text. */
export type ResponsesAnswer =
  | { readonly kind: "forwarded"; readonly upstream: Upstream }
  | { readonly kind: "whole"; readonly response: Response }
  | { readonly kind: "events"; readonly frames: AsyncIterable<string> };

export type Responses = ReturnType<typeof createResponses>;

/** Answers requests of the Responses format with any model the caller may use. */
export function createResponses({ completions, models, isStateful }: ResponsesParts) {
  return {
    async run(request: ResponsesRequest, asked: AskedBy): Promise<ResponsesAnswer> {
      const { caller: principal, signal, userAgent } = asked;
      const isStream = request.stream === true;
      const model = await models.resolve(principal, request.model);
      const forward = model.provider.responses?.(model.base);
      if (forward) {
        const upstream = await forward({ body: request, isStream, principal, signal, userAgent });
        return { kind: "forwarded", upstream };
      }
      if (request.previous_response_id && isStateful()) {
        // Left out, it would be a conversation without its beginning.
        throw new AppError(
          "invalid",
          "previous_response_id: this model's provider keeps no responses. Send the whole conversation as input.",
        );
      }
      const answer = await completions.run(toCommon(request), { principal, signal, userAgent });
      const batches = answer.kind === "whole" ? fromWhole(answer.completion) : answer.chunks();
      return isStream
        ? { kind: "events", frames: toFrames(batches, request, asked) }
        : { kind: "whole", response: await toResponse(batches, request) };
    },
  };
}

async function* toFrames(
  batches: AsyncIterable<ChunkBatch>,
  request: ResponsesRequest,
  { signal, requestId }: AskedBy,
): AsyncGenerator<string> {
  const writer = new ResponseWriter(request);
  writer.begin();
  yield writer.take();
  try {
    for await (const batch of batches) {
      batch.forEach((chunk) => writer.add(chunk));
      const frames = writer.take();
      if (frames !== "") {
        yield frames;
      }
    }
    writer.end();
  } catch (error) {
    if (signal.aborted) {
      throw error;
    }
    writer.fail(error, requestId);
  }
  yield writer.take();
}

async function toResponse(batches: AsyncIterable<ChunkBatch>, request: ResponsesRequest): Promise<Response> {
  const writer = new ResponseWriter(request);
  for await (const batch of batches) {
    batch.forEach((chunk) => writer.add(chunk));
  }
  writer.end();
  return writer.response;
}

/** A model that does not stream answers in one chunk. */
async function* fromWhole({ choices, ...rest }: Completion): AsyncGenerator<ChunkBatch> {
  const [choice] = choices ?? [];
  const { tool_calls: calls, ...message } = choice?.message ?? { role: "assistant" };
  const tool_calls = calls?.map((call, index) => ({ ...call, index }));
  const delta = { ...message, ...(tool_calls && { tool_calls }) };
  yield [{ ...rest, choices: [{ index: 0, delta, finish_reason: choice?.finish_reason ?? null }] }];
}
