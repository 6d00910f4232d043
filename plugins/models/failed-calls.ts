import { type ModelCall, modelCallEnded } from "#kernel/completion/model-call.ts";
import { AppError, ProviderError } from "#kernel/errors.ts";
import type { Events } from "#kernel/events.ts";

/** Characters of what an upstream said; its page of HTML is no news. */
const longestText = 500;

/** Announces `model.provider_request.failed` for every call of a model that failed; those that callers left did not. */
export function announceFailedCalls(events: Pick<Events, "on" | "announce">): void {
  events.on(modelCallEnded, (call) => {
    if (call.outcome === "failed") {
      events.announce("model.provider_request.failed", {
        actor: { id: call.userId },
        subject: { type: "model", id: call.modelId },
        data: {
          base_model_id: call.baseModelId,
          provider: call.provider,
          connection: call.connection ?? null,
          wire: call.wire,
          task: call.task ?? null,
          chat_id: call.chatId ?? null,
          message_id: call.messageId ?? null,
          duration_ms: call.durationMs,
          ...toFailure(call),
        },
      });
    }
  });
}

/** The upstream's status and words, as far as it gave any. */
function toFailure({ failure }: Pick<ModelCall, "failure">): { status: number | null; error: string | null } {
  if (failure instanceof ProviderError) {
    return { status: failure.status, error: failure.body.slice(0, longestText) };
  }
  // Messages of other errors may name what is internal.
  return { status: null, error: failure instanceof AppError ? failure.message.slice(0, longestText) : null };
}
