import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import { defineRoute, type RequestInfo } from "#kernel/http/route.ts";
import type { Models } from "#plugins/models/service.ts";
import { type ResponsesFormat, ResponsesRequest } from "#plugins/responses/service.ts";
import { resolveLatest, resolveOwn } from "./relay-call.ts";
import type { RuntimeProvider } from "../provider.ts";
import { Index } from "./indexed.ts";

export interface ResponsesOptions {
  readonly provider: Pick<RuntimeProvider, "requireHolders">;
  readonly models: Models;
  /** Undefined where the plugin that knows the format is left out. */
  readonly format: ResponsesFormat | undefined;
}

/** The Responses format: every model that chats, or one backend's (Core API, local model runtime pass-through). */
export function responsesRoutes({ provider, models, format }: ResponsesOptions) {
  const declared = {
    method: "POST",
    summary: "Answer a request of the Responses format",
    access: "user",
    body: ResponsesRequest,
    errors: "compat",
    fails: [400, 404, 429, 502, 503, 504],
  } as const;
  return [
    defineRoute({ ...declared, path: "/v1/responses" }, async ({ body, bodyText: text, caller, request }) => {
      const model = await resolveLatest(models, caller, { id: body.model });
      return required(format).answer(
        { ...body, model: model.id },
        { ...toContext(caller, request), model, text },
      );
    }),
    defineRoute(
      { ...declared, path: "/v1/responses/:idx", params: Index },
      async ({ body, bodyText: text, caller, request, params: { idx } }) => {
        const model = await resolveOwn(models, caller, body.model);
        provider.requireHolders(model.base.id, idx);
        return required(format).answer(
          { ...body, model: model.id },
          { ...toContext(caller, request), backend: idx, model, text },
        );
      },
    ),
  ] as const;
}

function required(format: ResponsesFormat | undefined): ResponsesFormat {
  if (format === undefined) {
    throw new AppError("not_found", "The Responses format is not offered here.");
  }
  return format;
}

function toContext(caller: Principal, request: RequestInfo) {
  return {
    caller,
    signal: request.signal,
    userAgent: request.headers["user-agent"],
    requestId: request.id,
  };
}
