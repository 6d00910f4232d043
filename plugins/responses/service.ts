import type { Principal } from "#kernel/access/principal.ts";
import type { CompletionAnswer } from "#kernel/completion/provider.ts";
import type { CompletionRequest } from "#kernel/completion/request.ts";
import type { Tags } from "#kernel/completion/reasoning-tags.ts";
import type { Relay, Stream } from "#kernel/http/route.ts";
import { defineService } from "#kernel/service.ts";
import type { ResolvedModel } from "#plugins/models/service.ts";
import type { Response } from "./response.ts";
import type { ResponsesRequest } from "./schema.ts";

export { ResponsesRequest } from "./schema.ts";

/** The caller of a request, with the signal that ends it. */
export interface ResponsesContext {
  readonly caller: Principal;
  readonly signal: AbortSignal;
  readonly userAgent: string | undefined;
  readonly requestId: string;
  /** The JSON text of the request, whose numbers go out digit for digit. */
  readonly text?: string | undefined;
  /** The tags that open and close reasoning in the model's texts; the known ones where they are left out. */
  readonly tags?: readonly Tags[];
}

/** The answer of a route: a whole response, its events, or a provider's own bytes. */
export type ResponsesAnswer = Response | Stream | Relay;

/** The Responses format for routes that offer it. */
export interface ResponsesFormat {
  /**
   * Answers with any model the caller may use. An upstream that speaks the format itself gets the request as it is;
   * for every other one it becomes a completion with its filters and pipelines. `backend` is the one of the provider's
   * backends that is to answer, `model` what the caller of this has resolved the request's model to. Throws `not_found`
   * for models, `unprocessable` or `invalid`, naming the field, for requests that cannot be translated.
   */
  answer(
    body: ResponsesRequest,
    context: ResponsesContext & {
      readonly backend?: number | undefined;
      readonly model?: ResolvedModel | undefined;
    },
  ): Promise<ResponsesAnswer>;
  /** Puts a request as one chat completion, which `complete` asks for, and its answer back into the format. */
  translate(
    body: ResponsesRequest,
    context: ResponsesContext,
    complete: (chat: CompletionRequest) => Promise<CompletionAnswer>,
  ): Promise<ResponsesAnswer>;
}

export const responsesFormat = defineService<ResponsesFormat>("responses.format");
