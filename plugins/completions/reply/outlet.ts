import { randomUUID } from "node:crypto";
import type { CompletionMessage, Usage } from "#kernel/completion/chunk.ts";
import type { CompletionRequest } from "#kernel/completion/request.ts";
import type { Conversation, ConversationMessage, Filter, FilterContext } from "#kernel/pipeline/filter.ts";
import type { Pipeline } from "../pipeline/pipeline.ts";

export interface OutletRun {
  readonly filters: readonly Filter[];
  readonly context: FilterContext;
  /** As the caller sent it: what the model was told besides is not for those who may only use it (promise S53). */
  readonly sent: CompletionRequest;
  readonly reply: CompletionMessage;
  readonly usage: Usage | undefined;
  /** Of the reply, where it is not the message that the run is about. */
  readonly replyId?: string | undefined;
  /** False where nobody looks at what comes of it; true when left out. */
  readonly isRead?: boolean | undefined;
}

/**
 * Runs the outlet filters on the conversation that the sent messages and the reply make. The HTTP answer is out
 * already and never changes. Core API, chat completion rule 14.
 */
export function runOutlet(
  pipeline: Pipeline,
  { filters, context, sent, reply, usage, replyId = context.messageId, isRead = true }: OutletRun,
): Promise<Conversation> {
  const timestamp = Math.floor(Date.now() / 1000);
  const asked = sent.messages.map((message): ConversationMessage => ({
    ...message,
    id: randomUUID(),
    content: message.content ?? "",
    timestamp,
  }));
  const answer: ConversationMessage = {
    ...reply,
    id: replyId ?? randomUUID(),
    content: reply.content ?? "",
    timestamp,
    ...(usage ? { usage } : {}),
  };
  return pipeline.outlet(
    filters,
    {
      model: sent.model,
      messages: [...asked, answer],
      filter_ids: sent.filter_ids ?? [],
      chat_id: context.chatId,
      session_id: context.sessionId,
      id: answer.id,
    },
    context,
    { isRead },
  );
}
