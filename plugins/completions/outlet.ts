import { randomUUID } from "node:crypto";
import type { CompletionMessage, Usage } from "#kernel/completion/chunk.ts";
import type { CompletionRequest } from "#kernel/completion/request.ts";
import type { Conversation, ConversationMessage, Filter, FilterContext } from "#kernel/pipeline/filter.ts";
import type { Pipeline } from "#kernel/pipeline/pipeline.ts";

export interface OutletRun {
  readonly filters: readonly Filter[];
  readonly context: FilterContext;
  readonly request: CompletionRequest;
  readonly reply: CompletionMessage;
  readonly usage: Usage | undefined;
}

/**
 * Runs the outlet filters on the conversation that the sent messages and the reply make. The HTTP answer is out
 * already and never changes. Core API, chat completion rule 14.
 */
export function runOutlet(
  pipeline: Pipeline,
  { filters, context, request, reply, usage }: OutletRun,
): Promise<Conversation> {
  const timestamp = Math.floor(Date.now() / 1000);
  const sent = request.messages.map((message): ConversationMessage => ({
    ...message,
    id: randomUUID(),
    content: message.content ?? "",
    timestamp,
  }));
  const answer: ConversationMessage = {
    ...reply,
    id: context.messageId ?? randomUUID(),
    content: reply.content ?? "",
    timestamp,
    ...(usage ? { usage } : {}),
  };
  return pipeline.outlet(
    filters,
    {
      model: request.model,
      messages: [...sent, answer],
      filter_ids: request.filter_ids ?? [],
      chat_id: context.chatId,
      session_id: context.sessionId,
      id: answer.id,
    },
    context,
  );
}
