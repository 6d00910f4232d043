import { toList, toObject } from "#config/json-values.ts";
import type { CompletionRequest } from "#kernel/completion/request.ts";
import { estimateTokens, lengthOfTexts } from "#kernel/completion/tokens.ts";
import { collectCompletion, streamCompletion } from "#kernel/completion/stream-completion.ts";
import { toErrorEvent } from "#kernel/http/errors.ts";
import { toTags } from "#kernel/completion/reasoning-tags.ts";
import { ExactNumbers } from "#kernel/completion/exact-numbers.ts";
import { reply, stream } from "#kernel/http/route.ts";
import type { RunAnswer } from "#plugins/completions/service.ts";
import type { MessageFormat } from "#plugins/provider-message/service.ts";
import type { Call, MessagesOptions } from "./call.ts";
import { CallLabels } from "./call-labels.ts";
import { cannotCount } from "./counting/count.ts";
import { readDocuments } from "./request/documents.ts";
import { isThinkingOff, requireRoom } from "./request/effort.ts";
import { MessageEvents } from "./reply/from-chunks.ts";
import { fromCompletion, type ReplyFacts } from "./reply/from-completion.ts";
import { toEventStream } from "./reply/event-stream.ts";
import { type MessageRequest, toTranslated, type TranslatedRequest } from "./schema.ts";
import { toCommon } from "./request/to-common.ts";

type Prompt = Readonly<Record<string, unknown>>;

/** Starts counting a prompt; undefined where the upstream cannot count. */
type BeginCount = (prompt: () => Prompt) => Promise<number | undefined> | undefined;

/** Core API, vendor messages rule 2: into the common format, through filters and pipelines, and back. */
export async function translate(options: MessagesOptions, call: Call, beginCount: BeginCount) {
  const { incoming, model, context } = call;
  const { body } = incoming;
  if (body["thread"] !== undefined && body["thread"] !== null) {
    return refuseThread();
  }
  const numbers = ExactNumbers.read(incoming.text);
  const sent = toTranslated(numbers ? withExactInputs(body, numbers) : body);
  requireRoom(sent);
  const { common, labels } = await toCompletionRequest(sent, options, call);
  const isStream = body.stream === true;
  let counting: Promise<number | undefined> | undefined;
  let assumedInput: number | undefined;
  const answer = await options.completions.run(common, {
    ...context,
    model,
    numbers: numbers?.translated(),
    leftOut: isThinkingOff(sent) ? ["reasoning_effort"] : undefined,
    // Filters come first: text that they mask or refuse must not reach the upstream.
    onAsked(filtered) {
      counting = isStream ? beginCount(() => toPrompt(options.format, filtered)) : undefined;
      assumedInput = needsInputTokens(context.userAgent) ? toAssumedInput(filtered) : undefined;
    },
  });
  const facts: ReplyFacts = {
    model: body.model,
    stops: (common.stop as string[] | undefined) ?? [],
    tags: toTags(model.params["reasoning_tags"]),
    labels,
    assumedInput,
  };
  if (isStream) {
    return toStream(answer, { options, facts, counting, requestId: incoming.request.id });
  }
  const whole = answer.kind === "whole" ? answer.completion : await collectCompletion(answer.chunks());
  return fromCompletion(whole, facts);
}

interface Streaming {
  readonly options: MessagesOptions;
  readonly facts: ReplyFacts;
  readonly counting: Promise<number | undefined> | undefined;
  readonly requestId: string;
}

function toStream(answer: RunAnswer, { options, facts, counting, requestId }: Streaming) {
  return stream(
    toEventStream({
      batches: answer.kind === "whole" ? streamCompletion(answer.completion) : answer.chunks(),
      events: new MessageEvents(facts),
      counting,
      toErrorEvent(error) {
        options.log.info({ id: requestId, err: error }, "a reply broke off");
        return toErrorEvent(error, requestId);
      },
    }),
  );
}

/** The body with the digits of calls' inputs: those become texts, in which no number can be restored later. */
function withExactInputs(body: MessageRequest, numbers: ExactNumbers): MessageRequest {
  const exact = numbers.restore(body);
  const withInputs = (content: unknown, from: unknown): unknown =>
    Array.isArray(content)
      ? content.map((block: unknown, at) => {
          const { input } = toObject(toList(from)[at]);
          return input === undefined ? block : { ...toObject(block), input };
        })
      : content;
  const messages = body.messages.map((message, at) => ({
    ...message,
    content: withInputs(message.content, exact.messages[at]?.content),
  }));
  return { ...body, messages };
}

/** The provider package `@ai-sdk/anthropic` (seen in 4.0) drops a stream whose first event has no input tokens. */
function needsInputTokens(userAgent: string | undefined): boolean {
  return /\bai-sdk[-/]anthropic\b/.test(userAgent ?? "");
}

function toAssumedInput(request: CompletionRequest): number {
  return Math.max(1, estimateTokens(lengthOfTexts(request)));
}

/** The prompt as the model would get it: filters run for counts, too. */
export async function translatePrompt(options: MessagesOptions, call: Call): Promise<Prompt> {
  const { principal, signal, userAgent } = call.context;
  // Counting needs no limit; the schema does.
  const sent = toTranslated({ ...call.incoming.body, max_tokens: 1 });
  const { common } = await toCompletionRequest(sent, options, call);
  const admitted = await options.completions.admit(common, { principal, model: call.model });
  const run = await admitted.open(common, { principal, signal, userAgent });
  await run.close();
  return toPrompt(options.format, run.request);
}

async function toCompletionRequest(
  sent: TranslatedRequest,
  { egress, log, longLabels }: MessagesOptions,
  { incoming: { request }, support }: Call,
): Promise<{ common: CompletionRequest; labels: CallLabels }> {
  const labels = new CallLabels(longLabels);
  const dropped: string[] = [];
  const common = toCommon(sent, {
    support,
    labels,
    documents: await readDocuments(sent, egress, request.signal),
    dropped: (type) => void dropped.push(type.slice(0, 100)),
  });
  if (dropped.length > 0) {
    log.info(
      { id: request.id, model: sent.model, tools: dropped },
      "tools that only their vendor runs were left out of a request",
    );
  }
  return { common, labels };
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

/**
 * Refuses conversations that the vendor stores: their requests lack the earlier turns. Clients know this refusal, and
 * send the whole conversation.
 */
function refuseThread() {
  const details = { error_code: "thread_unsupported_request", unsupported: ["thread"] };
  const message = "This model keeps no conversations: send all messages, without `thread`.";
  return reply(
    { type: "error", error: { type: "invalid_request_error", message, details } },
    { status: 400 },
  );
}
