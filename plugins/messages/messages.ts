import type { MessageSupport } from "#kernel/completion/provider.ts";
import { withFilledPrompt, withSystemBlocks } from "#plugins/models/service.ts";
import type { RequestInfo } from "#kernel/http/route.ts";
import { namesModelOnce } from "#kernel/upstream/model-key.ts";
import type { Models } from "#plugins/models/service.ts";
import type { IncomingRequest, Call, MessagesOptions } from "./call.ts";
import { countTokens, createUpFrontCounter } from "./counting/count.ts";
import { forward } from "./forward/forward.ts";
import { withModel } from "./forward/model-text.ts";
import type { MessageRequest } from "./schema.ts";
import { translate, translatePrompt } from "./translate.ts";

export type Messages = ReturnType<typeof createMessages>;

/** Answers requests of the vendor message format: translates them into completions, or forwards them as they are. */
export function createMessages(options: MessagesOptions) {
  const counter = createUpFrontCounter();
  return {
    async create(incoming: IncomingRequest) {
      const call = await resolve(options.models, incoming);
      return call.support?.forward === undefined
        ? translate(options, call, (prompt) => counter.begin(call.model.base, { ...call, prompt }))
        : forwardCall(options, call, call.support.forward);
    },
    async count(incoming: IncomingRequest) {
      const call = await resolve(options.models, incoming);
      const prompt = () =>
        call.support?.forward === undefined ? translatePrompt(options, call) : withPrompt(options, call);
      return { input_tokens: await countTokens({ ...call, prompt }) };
    },
  };
}

async function resolve(models: Models, incoming: IncomingRequest): Promise<Call> {
  const { caller, body, request } = incoming;
  const model = await models.resolve(caller, body.model);
  return {
    incoming,
    model,
    support: model.provider.messages?.(model.base),
    context: { principal: caller, userAgent: request.headers["user-agent"], signal: request.signal },
    ...toFormat(request),
  };
}

async function forwardCall(
  options: MessagesOptions,
  call: Call,
  send: NonNullable<MessageSupport["forward"]>,
) {
  const { body, text, request } = call.incoming;
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

/** The request with the model's saved system prompt ahead of the caller's; nothing else is added. */
async function withPrompt(
  { findProfile }: MessagesOptions,
  { incoming: { body, caller }, model }: Call,
): Promise<MessageRequest> {
  return withSystemBlocks(body, await withFilledPrompt(model.params, caller, findProfile));
}

/** The version of the format for callers that name none. */
const defaultVersion = "2023-06-01";

/** The headers and the query that belong to the format: versions and previews. */
function toFormat({ headers, url }: RequestInfo): Pick<Call, "headers" | "query"> {
  const names = ["anthropic-version", "anthropic-beta"];
  const given = names.flatMap((name) => (typeof headers[name] === "string" ? [[name, headers[name]]] : []));
  return {
    headers: { "anthropic-version": defaultVersion, ...Object.fromEntries(given) },
    // Other parts of the address stay here: an upstream might act on them.
    query: /[?&]beta=true(?:&|$)/.test(url) ? "?beta=true" : "",
  };
}
