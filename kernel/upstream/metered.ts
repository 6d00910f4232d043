import type { Upstream } from "#kernel/http/route.ts";
import { type ModelCall, OpenCall, type Wire } from "#kernel/completion/model-call.ts";
import type {
  CallContext,
  CompletionAnswer,
  ModelProvider,
  ProviderModel,
} from "#kernel/completion/provider.ts";
import { watchAnswer, watchBytes } from "./watch-answer.ts";

/** Announces that a model call is over. */
export type CallEnded = (call: ModelCall) => void;

/** What a call is about besides its context. */
export interface CallSubject {
  /** As the caller named it. */
  readonly modelId: string;
  readonly model: Pick<ProviderModel, "id" | "item">;
  readonly provider: Pick<ModelProvider, "id">;
  readonly wire: Wire;
  /** What the model is asked, as it is or as JSON text. */
  readonly asked: unknown;
}

/** Opens a measured call; the time begins to run. */
export function beginCall(subject: CallSubject, context: CallContext, ended: CallEnded): OpenCall {
  const { modelId, model, provider, wire, asked } = subject;
  const connection = model.item["urlIdx"];
  return new OpenCall({
    facts: {
      userId: context.principal.userId,
      modelId,
      baseModelId: model.id,
      provider: provider.id,
      connection: connection === undefined ? undefined : String(connection as number),
      wire,
      task: context.task,
      chatId: context.chatId,
      messageId: context.messageId,
    },
    asked,
    signal: context.signal,
    ended,
  });
}

/** Measures a call whose answer is a body or a completion, which goes on as it is. */
export async function measured<A extends Upstream | CompletionAnswer>(
  call: OpenCall,
  asking: Promise<A>,
): Promise<A> {
  try {
    const answer = await asking;
    return ("kind" in answer ? watchAnswer(answer, call) : watchBytes(answer, call)) as A;
  } catch (error) {
    call.break(error);
    throw error;
  }
}

/** The provider with every call of one model measured. */
export function meterProvider(provider: ModelProvider, modelId: string, ended: CallEnded): ModelProvider {
  const begin = (
    context: CallContext & { readonly model: ProviderModel; readonly request: unknown },
    wire: Wire,
  ) => beginCall({ modelId, model: context.model, provider, wire, asked: context.request }, context, ended);
  return {
    id: provider.id,
    models: (options) => provider.models(options),
    complete: (call) => measured(begin(call, "chat"), provider.complete(call)),
    ...(provider.embed && {
      embed: (call) => measured(begin(call, "embeddings"), (provider.embed as Embed)(call)),
    }),
    ...(provider.messages && {
      messages(model) {
        const support = (provider.messages as Messages)(model);
        const forward = support?.forward?.bind(support);
        return (
          support && {
            ...support,
            ...(forward && {
              forward: (call) =>
                measured(begin({ ...call, model, request: call.body }, "messages"), forward(call)),
            }),
          }
        );
      },
    }),
    ...(provider.responses && {
      responses(model) {
        const forward = (provider.responses as Responses)(model);
        return (
          forward &&
          ((call) => measured(begin({ ...call, model, request: call.body }, "responses"), forward(call)))
        );
      },
    }),
    ...(provider.unload && { unload: (call) => (provider.unload as Unload)(call) }),
  };
}

type Responses = NonNullable<ModelProvider["responses"]>;
type Messages = NonNullable<ModelProvider["messages"]>;
type Embed = NonNullable<ModelProvider["embed"]>;
type Unload = NonNullable<ModelProvider["unload"]>;
