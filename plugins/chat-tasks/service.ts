import type { Principal } from "#kernel/access/principal.ts";
import type { Message } from "#kernel/completion/request.ts";
import { defineService } from "#kernel/service.ts";
import type { ResolvedModel } from "#plugins/models/service.ts";

/** A conversation that is to be searched for. */
export interface QueryInput {
  readonly principal: Principal;
  /** The model of the chat. */
  readonly model: ResolvedModel;
  readonly messages: readonly Message[];
  /** `variables` of the request. */
  readonly variables?: Readonly<Record<string, string>> | undefined;
  /** Filters that the person switched on. */
  readonly filterIds?: readonly string[] | undefined;
  readonly chatId: string | undefined;
  readonly messageId?: string | undefined;
  readonly signal: AbortSignal;
}

/** Has a task model write search queries (contract §3.7). */
export interface QueryWriter {
  /**
   * The queries, none where the model finds that no search is needed; undefined while ENABLE_RETRIEVAL_QUERY_GENERATION
   * or ENABLE_SEARCH_QUERY_GENERATION is off. Throws like every model call.
   */
  write(kind: "retrieval" | "web_search", input: QueryInput): Promise<readonly string[] | undefined>;
}

/** Has a task model describe the picture that a conversation asks for (contract §3.7). */
export interface ImagePromptWriter {
  /** The description; the person's own words where the answer holds none. Throws like every model call. */
  write(input: QueryInput): Promise<string>;
}

export const imagePromptWriter = defineService<ImagePromptWriter>("chat-tasks.image-prompts");

export const queryWriter = defineService<QueryWriter>("chat-tasks.queries");
