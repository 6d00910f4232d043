import type { MessageSupport } from "#kernel/completion/provider.ts";
import { withFilledPrompt, withSystemBlocks } from "#kernel/completion/saved-prompt.ts";
import type { RequestInfo } from "#kernel/http/route.ts";
import { namesModelOnce } from "#kernel/upstream/model-key.ts";
import type { Models } from "#plugins/models/service.ts";
import type { Asked, Call, MessagesOptions } from "./call.ts";
import { countTokens, createUpFrontCounter } from "./counting/count.ts";
import { forward } from "./forward/forward.ts";
import { withModel } from "./forward/model-text.ts";
import type { MessageRequest } from "./schema.ts";
import { translate, translatePrompt } from "./translate.ts";

export type Messages = ReturnType<typeof createMessages>;

/** Answers requests of the vendor message format: translated into a completion, or passed on as they are. */
export function createMessages(options: MessagesOptions) {
  const counter = createUpFrontCounter();
  return {
    async create(asked: Asked) {
      const call = await resolve(options.models, asked);
      return call.support?.forward === undefined
        ? translate(options, call, (prompt) => counter.begin(call.model.base, { ...call, prompt }))
        : passOn(options, call, call.support.forward);
    },
    async count(asked: Asked) {
      const call = await resolve(options.models, asked);
      const prompt = () =>
        call.support?.forward === undefined ? translatePrompt(options, call) : withPrompt(options, call);
      return { input_tokens: await countTokens({ ...call, prompt }) };
    },
  };
}

async function resolve(models: Models, asked: Asked): Promise<Call> {
  const { caller, body, request } = asked;
  const model = await models.resolve(caller, body.model);
  return {
    asked,
    model,
    support: model.provider.messages?.(model.base),
    context: { principal: caller, userAgent: request.headers["user-agent"], signal: request.signal },
    ...toFormat(request),
  };
}

async function passOn(options: MessagesOptions, call: Call, send: NonNullable<MessageSupport["forward"]>) {
  const { body, text, request } = call.asked;
  const upstreamId = call.support?.upstreamId ?? body.model;
  const prompted = await withPrompt(options, call);
  const isSame = prompted === body && body.model === upstreamId && namesModelOnce(text, body);
  return forward({
    send,
    call: {
      ...call.context,
      headers: call.headers,
      query: call.query,
      body: isSame ? text : withModel(prompted === body ? text : JSON.stringify(prompted), upstreamId),
      isStream: body.stream === true,
    },
    rename: body.model === upstreamId ? undefined : body.model,
    requestId: request.id,
  });
}

/** A saved system prompt is part of what the model is, so it comes first here too; nothing else is added. */
async function withPrompt(
  { findProfile }: MessagesOptions,
  { asked: { body, caller }, model }: Call,
): Promise<MessageRequest> {
  return withSystemBlocks(body, await withFilledPrompt(model.params, caller, findProfile));
}

/** For callers that name none. */
const formatVersion = "2023-06-01";

/** What belongs to the format outside of the body: versions and previews. */
function toFormat({ headers, url }: RequestInfo): Pick<Call, "headers" | "query"> {
  const names = ["anthropic-version", "anthropic-beta"];
  const given = names.flatMap((name) => (typeof headers[name] === "string" ? [[name, headers[name]]] : []));
  return {
    headers: { "anthropic-version": formatVersion, ...Object.fromEntries(given) },
    // Nothing else of the address is passed on: an upstream might understand it.
    query: /[?&]beta=true(?:&|$)/.test(url) ? "?beta=true" : "",
  };
}
