import type { Principal } from "#kernel/access/principal.ts";
import type { CallContext, MessageSupport } from "#kernel/completion/provider.ts";
import type { Egress } from "#kernel/egress/egress.ts";
import { fillTemplate, hasVariables, type TemplateFacts } from "#kernel/completion/template.ts";
import { toErrorEvent } from "#kernel/http/errors.ts";
import { reply, type RequestInfo, stream } from "#kernel/http/route.ts";
import type { Logger } from "#kernel/log.ts";
import { namesModelOnce } from "#kernel/upstream/model-key.ts";
import type { Completions } from "#plugins/completions/service.ts";
import type { Models, ResolvedModel } from "#plugins/models/service.ts";
import { type CountCall, countTokens, createUpFrontCounter } from "./count.ts";
import { withDocuments } from "./documents.ts";
import { forward } from "./forward.ts";
import { MessageEvents } from "./from-chunks.ts";
import { fromCompletion } from "./from-completion.ts";
import { withModel } from "./model-text.ts";
import { toEventStream } from "./pushed-events.ts";
import type { MessageRequest } from "./schema.ts";
import { toCommon } from "./to-common.ts";

export interface MessagesOptions {
  readonly models: Models;
  readonly completions: Completions;
  readonly egress: Egress;
  readonly log: Logger;
  findProfile(principal: Principal): Promise<Pick<TemplateFacts, "timeZone" | "user">>;
}

/** One request as it came in. */
export interface Asked {
  readonly body: MessageRequest;
  /** The JSON text that `body` was read from. */
  readonly text: string;
  readonly caller: Principal;
  readonly request: RequestInfo;
}

export type Messages = ReturnType<typeof createMessages>;

/** Answers requests of the vendor message format: translated into a completion, or passed on as they are. */
export function createMessages(options: MessagesOptions) {
  const counter = createUpFrontCounter();
  return {
    async create(asked: Asked) {
      const { model, support } = await resolve(options.models, asked);
      return support?.forward === undefined
        ? translate(options, { asked, support, count: (call) => counter.begin(model.base, call) })
        : passOn(options, { asked, model, support });
    },
    async count(asked: Asked) {
      const { support } = await resolve(options.models, asked);
      return { input_tokens: await countTokens(toCountCall(asked, support)) };
    },
  };
}

async function resolve(models: Models, { caller, body }: Asked) {
  const model = await models.resolve(caller, body.model);
  return { model, support: model.provider.messages?.(model.base) };
}

interface Translated {
  readonly asked: Asked;
  readonly support: MessageSupport | undefined;
  count(call: CountCall): Promise<number | undefined> | undefined;
}

/** Core API, vendor messages rule 2: into the common format, through filters and pipelines, and back. */
async function translate(
  { completions, egress, log }: MessagesOptions,
  { asked, support, count }: Translated,
) {
  const { body, caller, request } = asked;
  if (body["thread"] !== undefined && body["thread"] !== null) {
    return refuseThread();
  }
  const dropped: string[] = [];
  const common = toCommon(await withDocuments(body, egress, request.signal), {
    passthrough: support?.passthroughParams ?? [],
    dropped: (type) => void dropped.push(type.slice(0, 100)),
  });
  if (dropped.length > 0) {
    log.info(
      { id: request.id, model: body.model, tools: dropped },
      "tools that only their vendor runs were left out of a request",
    );
  }
  const counting = common.stream === true ? count(toCountCall(asked, support)) : undefined;
  const answer = await completions.run(common, {
    principal: caller,
    signal: request.signal,
    userAgent: request.headers["user-agent"],
  });
  const facts = { model: body.model, stops: (common.stop as string[] | undefined) ?? [] };
  return answer.kind === "whole"
    ? fromCompletion(answer.completion, facts)
    : stream(
        toEventStream({
          batches: answer.chunks(),
          events: new MessageEvents(facts),
          counting,
          toErrorEvent(error) {
            log.info({ id: request.id, err: error }, "a reply broke off");
            return toErrorEvent(error, request.id);
          },
        }),
      );
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

interface Passed {
  readonly asked: Asked;
  readonly model: ResolvedModel;
  readonly support: MessageSupport;
}

async function passOn(options: MessagesOptions, { asked, model, support }: Passed) {
  const { body, text, request } = asked;
  const isSame = body.model === support.upstreamId && namesModelOnce(text, body);
  const prompted = await withPrompt(options, { asked, model });
  return forward({
    send: support.forward as NonNullable<MessageSupport["forward"]>,
    call: {
      ...toContext(asked),
      ...toFormat(request),
      body: isSame && prompted === text ? text : withModel(prompted, support.upstreamId),
      isStream: body.stream === true,
    },
    rename: body.model === support.upstreamId ? undefined : body.model,
    requestId: request.id,
  });
}

/** A saved system prompt is part of what the model is, so it comes first here too; nothing else is added. */
async function withPrompt(
  { findProfile }: MessagesOptions,
  { asked: { body, text, caller }, model }: Pick<Passed, "asked" | "model">,
): Promise<string> {
  const { system: saved } = model.params;
  if (typeof saved !== "string" || saved === "") {
    return text;
  }
  const prompt = hasVariables(saved)
    ? fillTemplate(saved, { now: new Date(), ...(await findProfile(caller)), variables: {} })
    : saved;
  const own = body.system ?? [];
  const rest = typeof own === "string" ? [{ type: "text", text: own }] : (own as unknown[]);
  return JSON.stringify({ ...body, system: [{ type: "text", text: prompt }, ...rest] });
}

function toContext({ caller, request }: Asked): CallContext {
  return { principal: caller, userAgent: request.headers["user-agent"], signal: request.signal };
}

function toCountCall(asked: Asked, support: MessageSupport | undefined): CountCall {
  return { support, body: asked.body, context: toContext(asked), ...toFormat(asked.request) };
}

/** For callers that name none. */
const formatVersion = "2023-06-01";

/** What belongs to the format outside of the body: versions and previews. */
function toFormat({ headers, url }: RequestInfo): { headers: Record<string, string>; query: string } {
  const names = ["anthropic-version", "anthropic-beta"];
  const given = names.flatMap((name) => (typeof headers[name] === "string" ? [[name, headers[name]]] : []));
  return {
    headers: { "anthropic-version": formatVersion, ...Object.fromEntries(given) },
    // Nothing else of the address is passed on: an upstream might understand it.
    query: /[?&]beta=true(?:&|$)/.test(url) ? "?beta=true" : "",
  };
}
