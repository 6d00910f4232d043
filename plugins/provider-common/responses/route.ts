import type { OpenCall } from "#kernel/completion/model-call.ts";
import { beginCall } from "#kernel/upstream/metered.ts";
import type { CallContext } from "#kernel/completion/provider.ts";
import { toTags } from "#kernel/completion/reasoning-tags.ts";
import { fillSaved, withFilledPrompt, withInstructions } from "#plugins/models/service.ts";
import { watchBytes } from "#kernel/upstream/watch-answer.ts";
import { ExactNumbers, toExactJson } from "#kernel/completion/exact-numbers.ts";
import { AppError } from "#kernel/errors.ts";
import { defineRoute, type Upstream } from "#kernel/http/route.ts";
import { namesModelOnce, withModel } from "#kernel/upstream/model-key.ts";
import { type ResponsesFormat, ResponsesRequest } from "#plugins/responses/service.ts";
import {
  type CompatOptions,
  connectionProviders,
  passOn,
  requireConnection,
  toCall,
  toContext,
  toSubject,
} from "../compat/routes.ts";
import type { Target } from "../models/offers.ts";
import { isEventStream } from "./forward.ts";
import type { ResponsesProbe } from "./probe.ts";

export interface ResponsesOptions extends CompatOptions {
  readonly probe: ResponsesProbe;
  /** Undefined where the plugin that knows the format is left out. */
  readonly format: ResponsesFormat | undefined;
  /** ENABLE_RESPONSES_API_STATEFUL. */
  isStateful(): boolean;
}

/**
 * The Responses format for the models of all connections, with the same access and prefixes as chat completions. An
 * upstream that speaks it gets requests as they are; any other gets chat completions.
 */
export function responsesRoute(options: ResponsesOptions) {
  const { connections, models, findProfile, format } = options;
  return defineRoute(
    {
      method: "POST",
      path: "/responses",
      summary: "Answer a request of the Responses format",
      access: "user",
      body: ResponsesRequest,
      fails: [404, 429, 502, 504],
    },
    async ({ body, bodyText, caller, request }) => {
      const { model, target } = requireConnection(
        await models.resolve(caller, body.model, connectionProviders),
        connections,
      );
      const saved = await withFilledPrompt(model.params, caller, findProfile);
      const context = toContext(caller, request);
      const call = beginCall({ ...toSubject(model, body), wire: "responses" }, context, options.ended);
      const text = toText(options, { body: withInstructions(body, saved), asked: body, bodyText, target });
      const upstream = await forward(
        options,
        { body: text, isStream: body.stream === true, target, context },
        call,
      );
      if (upstream) {
        return passOn(upstream, request.id, { isStream: isEventStream(upstream) });
      }
      if (format === undefined) {
        throw new AppError("not_found", "This model's provider does not speak the Responses format.");
      }
      const asked = {
        caller,
        signal: request.signal,
        userAgent: context.userAgent,
        requestId: request.id,
        tags: toTags(model.params["reasoning_tags"]),
      };
      return format.translate(body, asked, (chat) =>
        model.provider.complete({
          ...toCall(model, fillSaved(chat, saved), context),
          numbers: () => ExactNumbers.read(bodyText)?.translated(),
        }),
      );
    },
  );
}

interface Text {
  readonly body: ResponsesRequest;
  readonly asked: ResponsesRequest;
  readonly bodyText: string | undefined;
  readonly target: Target;
}

/** What goes out: the caller's own bytes where nothing in them has to change. */
function toText({ isStateful }: ResponsesOptions, { body, asked, bodyText, target }: Text): string {
  const { previous_response_id: previous, ...rest } = body;
  const forgets = previous !== undefined && !isStateful();
  const isUnchanged =
    body === asked &&
    !forgets &&
    body.model === target.upstreamId &&
    bodyText !== undefined &&
    namesModelOnce(bodyText, body);
  const kept = forgets || previous === undefined ? rest : body;
  return isUnchanged ? bodyText : toExactJson(withModel(kept, target.upstreamId), bodyText);
}

interface Forwarded {
  readonly target: Target;
  readonly body: string;
  readonly isStream: boolean;
  readonly context: CallContext;
}

/** Counts the call once it is known that there is one. */
async function forward(
  { probe }: ResponsesOptions,
  sent: Forwarded,
  call: OpenCall,
): Promise<Upstream | undefined> {
  try {
    const upstream = await probe.forward(sent);
    return upstream && watchBytes(upstream, call);
  } catch (error) {
    call.break(error);
    throw error;
  }
}
