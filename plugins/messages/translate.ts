import type { ChunkBatch } from "#kernel/completion/provider.ts";
import type { CompletionRequest } from "#kernel/completion/request.ts";
import { streamCompletion, collectCompletion } from "#kernel/completion/stream-completion.ts";
import { toErrorEvent } from "#kernel/http/errors.ts";
import { reply, stream } from "#kernel/http/route.ts";
import type { RunAnswer } from "#plugins/completions/service.ts";
import type { MessageFormat } from "#plugins/provider-message/service.ts";
import type { Call, MessagesOptions } from "./call.ts";
import { cannotCount } from "./counting/count.ts";
import { readDocuments } from "./request/documents.ts";
import { isThinkingOff } from "./request/effort.ts";
import { MessageEvents } from "./reply/from-chunks.ts";
import { fromCompletion } from "./reply/from-completion.ts";
import { toEventStream } from "./reply/pushed-events.ts";
import { toTranslated, type TranslatedRequest } from "./schema.ts";
import { toCommon } from "./request/to-common.ts";

type Prompt = Readonly<Record<string, unknown>>;

/** Begins to count a prompt; undefined where nobody can. */
type BeginCount = (prompt: () => Prompt) => Promise<number | undefined> | undefined;

/** Core API, vendor messages rule 2: into the common format, through filters and pipelines, and back. */
export async function translate(options: MessagesOptions, call: Call, beginCount: BeginCount) {
  const { asked, model, context } = call;
  const { body, request } = asked;
  if (body["thread"] !== undefined && body["thread"] !== null) {
    return refuseThread();
  }
  const sent = toTranslated(body);
  const common = await toCompletionRequest(sent, options, call);
  const isStream = body.stream === true;
  let counting: Promise<number | undefined> | undefined;
  const answer = await options.completions.run(common, {
    ...context,
    model,
    leftOut: isThinkingOff(sent) ? ["reasoning_effort"] : undefined,
    // Not before the filters are through: what they mask or refuse is not for the upstream.
    onAsked(filtered) {
      counting = isStream ? beginCount(() => toPrompt(options.format, filtered)) : undefined;
    },
  });
  const facts = { model: body.model, stops: (common.stop as string[] | undefined) ?? [] };
  if (!isStream) {
    const whole = answer.kind === "whole" ? answer.completion : await collectCompletion(answer.chunks());
    return fromCompletion(whole, facts);
  }
  return stream(
    toEventStream({
      batches: toBatches(answer),
      events: new MessageEvents(facts),
      counting,
      toErrorEvent(error) {
        options.log.info({ id: request.id, err: error }, "a reply broke off");
        return toErrorEvent(error, request.id);
      },
    }),
  );
}

/** What the model would be asked if the request were answered: counts pass through filters too. */
export async function translatePrompt(options: MessagesOptions, call: Call): Promise<Prompt> {
  const { principal, signal, userAgent } = call.context;
  // No limit is needed for counting, and none of it is counted.
  const sent = toTranslated({ ...call.asked.body, max_tokens: 1 });
  const common = await toCompletionRequest(sent, options, call);
  const admitted = await options.completions.admit(common, { principal, model: call.model });
  const run = await admitted.open(common, { principal, signal, userAgent });
  await run.close();
  return toPrompt(options.format, run.request);
}

async function toCompletionRequest(
  sent: TranslatedRequest,
  { egress, log }: MessagesOptions,
  { asked: { request }, support }: Call,
): Promise<CompletionRequest> {
  const dropped: string[] = [];
  const common = toCommon(sent, {
    support,
    documents: await readDocuments(sent, egress, request.signal),
    dropped: (type) => void dropped.push(type.slice(0, 100)),
  });
  if (dropped.length > 0) {
    log.info(
      { id: request.id, model: sent.model, tools: dropped },
      "tools that only their vendor runs were left out of a request",
    );
  }
  return common;
}

function toPrompt(format: MessageFormat | undefined, request: CompletionRequest): Prompt {
  if (format === undefined) {
    throw cannotCount();
  }
  try {
    return format.toPrompt(request);
  } catch (error) {
    throw cannotCount(error);
  }
}

function toBatches(answer: RunAnswer): AsyncIterable<ChunkBatch> {
  return answer.kind === "whole" ? streamCompletion(answer.completion) : answer.chunks();
}

/**
 * Conversations that the vendor keeps come without their earlier turns: a model of another upstream would answer out of
 * context. Clients know this refusal, and send the whole conversation.
 */
function refuseThread() {
  const details = { error_code: "thread_unsupported_request", unsupported: ["thread"] };
  const message = "This model keeps no conversations: send all messages, without `thread`.";
  return reply(
    { type: "error", error: { type: "invalid_request_error", message, details } },
    { status: 400 },
  );
}
