import type { ModelCall } from "#kernel/completion/model-call.ts";
import type { UsageRecord } from "./tables.ts";

/** The record of a model call that is over. */
export function toRecord(call: ModelCall): UsageRecord {
  const { tokens, chatId } = call;
  return {
    created_at: Math.floor(call.startedAt / 1000),
    user_id: call.userId,
    model_id: toText(call.modelId),
    base_model_id: toText(call.baseModelId),
    provider: call.provider,
    connection: call.connection ?? null,
    wire: call.wire,
    task: call.task === undefined ? null : toText(call.task),
    // A temporary chat is nowhere to be found again.
    chat_id: !chatId || chatId.startsWith("temporary:") ? null : toText(chatId),
    message_id: call.messageId ? toText(call.messageId) : null,
    input_tokens: tokens.input,
    output_tokens: tokens.output,
    cached_tokens: tokens.cached,
    reasoning_tokens: tokens.reasoning,
    estimated: call.isEstimated,
    duration_ms: call.durationMs,
    first_token_ms: call.firstTokenMs,
    outcome: call.outcome,
    tools: call.tools.length === 0 ? noTools : call.tools.slice(0, mostTools).map(toText),
  };
}

const mostTools = 256;
const noTools: string[] = [];
const longest = 1024;

/** Ids come from callers and models: one that cannot be stored must not keep the records behind it from being written. */
function toText(text: string): string {
  return text.slice(0, longest).replaceAll("\0", "").toWellFormed();
}
