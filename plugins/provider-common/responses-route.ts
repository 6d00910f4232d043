import { z } from "zod";
import { beginCall, measured } from "#kernel/completion/metered.ts";
import { defineRoute } from "#kernel/http/route.ts";
import { namesModelOnce, withModel } from "#kernel/upstream/model-key.ts";
import { forwardResponses, isEventStream } from "./responses-forward.ts";
import { type CompatOptions, passOn, requireOwn, toContext, toSubject } from "./compat-routes.ts";

export interface ResponsesOptions extends CompatOptions {
  /** ENABLE_RESPONSES_API_STATEFUL. */
  isStateful(): boolean;
}

const ResponsesBody = z.looseObject({
  model: z.string().min(1).max(1024),
  stream: z.boolean().nullish(),
  previous_response_id: z.string().nullish(),
});

/** Passes the Responses format on to providers that have it: the same models, access and prefixes as chat completions. */
export function responsesRoute({ provider, models, isStateful, ended }: ResponsesOptions) {
  return defineRoute(
    {
      method: "POST",
      path: "/responses",
      summary: "Pass a request of the Responses format on to its provider",
      access: "user",
      body: ResponsesBody,
      fails: [404, 429, 502, 504],
    },
    async ({ body, bodyText, caller, request }) => {
      const { model, target } = requireOwn(await models.resolve(caller, body.model), provider);
      const isStream = body.stream === true;
      const forgets = body.previous_response_id !== undefined && !isStateful();
      const isUnchanged =
        body.model === target.upstreamId && !forgets && namesModelOnce(bodyText as string, body);
      const { previous_response_id: previous, ...rest } = body;
      const kept = forgets || previous === undefined ? rest : { ...rest, previous_response_id: previous };
      const text = isUnchanged ? (bodyText as string) : JSON.stringify(withModel(kept, target.upstreamId));
      const context = toContext(caller, request);
      const call = beginCall({ ...toSubject(model, body), wire: "responses" }, context, ended);
      const sending = forwardResponses(provider, { target, body: text, isStream, context });
      const upstream = await measured(call, sending);
      return passOn(upstream, isEventStream(upstream), request.id);
    },
  );
}
