import { ExactNumbers } from "#kernel/completion/exact-numbers.ts";
import type { ChunkBatch, CompletionAnswer } from "#kernel/completion/provider.ts";
import { type FindProfile, withFilledPrompt, withInstructions } from "#plugins/models/service.ts";
import { streamCompletion } from "#kernel/completion/stream-completion.ts";
import { knownTags, type Tags, toTags } from "#kernel/completion/reasoning-tags.ts";
import { AppError } from "#kernel/errors.ts";
import { toErrorFrame } from "#kernel/http/errors.ts";
import { relay, stream, type Upstream } from "#kernel/http/route.ts";
import { validate } from "#kernel/http/validate.ts";
import type { Logger } from "#kernel/log.ts";
import type { Completions, RunAnswer } from "#plugins/completions/service.ts";
import type { Models } from "#plugins/models/service.ts";
import { toFrames, toResponse } from "./write-response.ts";
import type { StoredItems } from "./stored-items.ts";
import { namedItems, resolveReferences } from "./references.ts";
import { ResponseWriter } from "./response-writer.ts";
import { TranslatedRequest } from "./schema.ts";
import type { ResponsesAnswer, ResponsesContext, ResponsesFormat, ResponsesRequest } from "./service.ts";
import { toCommon } from "./to-common.ts";

export interface ResponsesParts {
  readonly completions: Completions;
  readonly models: Models;
  readonly items: StoredItems;
  readonly log: Logger;
  findProfile: FindProfile;
  /** ENABLE_RESPONSES_API_STATEFUL. */
  isStateful(): boolean;
}

/** Answers requests of the Responses format with any model the caller may use. */
export function createResponses(parts: ResponsesParts): ResponsesFormat {
  const { completions, models, items, findProfile } = parts;
  return {
    async answer(body, { backend, model: known, ...context }) {
      const { caller: principal, signal, userAgent, requestId } = context;
      const model = known ?? (await models.resolve(principal, body.model));
      const forward = model.provider.responses?.(model.base);
      if (forward) {
        const saved = await withFilledPrompt(model.params, principal, findProfile);
        const isStream = body.stream === true;
        const prompted = withInstructions(body, saved);
        return passOn(await forward({ body: prompted, isStream, principal, signal, userAgent }), requestId);
      }
      const { request, chat } = await read(parts, { body, context });
      const answer = await completions.run(chat, {
        principal,
        model,
        signal,
        userAgent,
        backend,
        numbers: ExactNumbers.read(context.text)?.translated(),
      });
      const tags = toTags(model.params["reasoning_tags"]);
      return deliver(answer, { request, context, items, tags });
    },
    async translate(body, context, complete) {
      const { request, chat } = await read(parts, { body, context });
      return deliver(await complete(chat), { request, context, items, tags: context.tags ?? knownTags });
    },
  };
}

/** The request with the chat completion that asks the same. */
async function read(
  { isStateful, items, log }: ResponsesParts,
  { body, context: { caller, requestId } }: { body: ResponsesRequest; context: ResponsesContext },
) {
  const sent = validate(TranslatedRequest, body, "body") as TranslatedRequest;
  const named = namedItems(sent);
  const request = named.length === 0 ? sent : resolveReferences(sent, await items.find(caller, named));
  if (request.previous_response_id && isStateful()) {
    // Dropped, it would leave a conversation without its beginning.
    throw new AppError(
      "invalid",
      "previous_response_id: this model's provider keeps no responses. Send the whole conversation as input.",
    );
  }
  const dropped: string[] = [];
  const chat = toCommon(request, (type) => void dropped.push(type.slice(0, 100)));
  if (dropped.length > 0) {
    log.info(
      { id: requestId, model: request.model, tools: dropped },
      "tools that only their provider runs were left out of a request",
    );
  }
  return { request, chat };
}

interface Delivered {
  readonly request: TranslatedRequest;
  readonly context: ResponsesContext;
  readonly items: StoredItems;
  readonly tags: readonly Tags[];
}

async function deliver(
  answer: RunAnswer | CompletionAnswer,
  { request, context: { caller, signal, requestId }, items, tags }: Delivered,
): Promise<ResponsesAnswer> {
  const writer = new ResponseWriter(request, tags);
  const storeItems = async () => {
    if (request["store"] !== false) {
      await items.store(caller.userId, writer.response.output);
    }
  };
  const batches = toBatches(answer);
  return request.stream === true
    ? stream(toFrames(batches, writer, { signal, requestId, stored: storeItems }))
    : await toResponse(batches, writer, storeItems);
}

function toBatches(answer: RunAnswer | CompletionAnswer): AsyncIterable<ChunkBatch> {
  switch (answer.kind) {
    case "whole":
      return streamCompletion(answer.completion);
    case "stream":
      return answer.stream.chunks();
    default:
      return answer.chunks();
  }
}

function passOn(upstream: Upstream, requestId: string) {
  const isStream = String(upstream.headers["content-type"] ?? "").includes("event-stream");
  // An empty line ends the event that was cut off.
  const brokenFrame = (error: Error) => `\n\ndata: ${toErrorFrame(error, requestId)}\n\n`;
  return relay(upstream, isStream ? { brokenFrame } : {});
}
