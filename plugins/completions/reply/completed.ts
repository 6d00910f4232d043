import { randomUUID } from "node:crypto";
import type { Principal } from "#kernel/access/principal.ts";
import type { CompletionRequest } from "#kernel/completion/request.ts";
import type { Conversation } from "#kernel/pipeline/filter.ts";
import type { Models } from "#plugins/models/service.ts";
import type { Pipeline } from "../pipeline/pipeline.ts";
import { type ChatAccess, requireChat } from "../request/chat-access.ts";
import { toModelIds } from "../request/model-ids.ts";

/** The body of the request, unknown keys kept. */
export interface CompletedRequest {
  model: string;
  messages: { role: string; id?: string | undefined; [key: string]: unknown }[];
  chat_id?: string | null | undefined;
  session_id?: string | null | undefined;
  id?: string | null | undefined;
  filter_ids?: string[] | null | undefined;
  [key: string]: unknown;
}

export interface Completed {
  /** The payload after all outlet filters, whatever ENABLE_API_OUTLET_FILTERS says. Core API, chat completion rule 14. */
  run(
    request: CompletedRequest,
    context: { principal: Principal; signal: AbortSignal },
  ): Promise<Conversation>;
}

export interface CompletedParts {
  readonly models: Models;
  readonly pipeline: Pipeline;
  chats(): readonly ChatAccess[];
}

/** Runs the outlet filters on a conversation that the caller sends. Throws `not_found` for chats of others. */
export function createCompleted({ models, pipeline, chats }: CompletedParts): Completed {
  return {
    async run(request, { principal, signal }) {
      await requireChat(request, principal, chats());
      const model = await models.resolve(principal, request.model);
      const facts = {
        principal,
        modelId: model.id,
        modelMeta: model.meta,
        chatId: request.chat_id ?? undefined,
        messageId: request.id ?? undefined,
        sessionId: request.session_id ?? undefined,
        metadata: {},
        request: request as CompletionRequest,
        signal,
      };
      const filters = await pipeline.choose({
        ...facts,
        modelIds: toModelIds(model),
        filterIds: request.filter_ids ?? [],
      });
      const messages = request.messages.map((message) => ({
        content: "",
        ...message,
        id: message.id ?? randomUUID(),
      }));
      const conversation = {
        ...request,
        messages,
        chat_id: facts.chatId,
        session_id: facts.sessionId,
        id: facts.messageId,
        filter_ids: request.filter_ids ?? undefined,
      };
      return pipeline.outlet(filters, conversation, facts);
    },
  };
}
