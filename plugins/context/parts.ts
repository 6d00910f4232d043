import type { Logger } from "#kernel/log.ts";
import type { Slot } from "#kernel/service.ts";
import type { QueryWriter } from "#plugins/chat-tasks/service.ts";
import type { ChatFolders, Chats } from "#plugins/chats/service.ts";
import type { Files } from "#plugins/files/service.ts";
import type { Folders } from "#plugins/folders/service.ts";
import type { Retrieval } from "#plugins/retrieval/service.ts";
import type { WebPage } from "#plugins/web-search/service.ts";
import type { ContextSettings } from "./config.ts";

/** What context is gathered with. */
export interface ContextParts {
  readonly chats: Pick<Chats, "require" | "branch">;
  readonly chatFolders: Slot<ChatFolders>;
  readonly files: Pick<Files, "load" | "settled">;
  readonly folders: Folders;
  readonly log: Logger;
  readonly retrieval: Retrieval | undefined;
  readonly settings: ContextSettings;
  readonly writer: QueryWriter;
  /** RAG_FULL_CONTEXT or BYPASS_EMBEDDING_AND_RETRIEVAL: whole documents instead of passages. */
  givesWhole(): boolean;
  /** Loads a page of the web as settings allow; undefined where nothing here does. */
  loadPage(url: string, signal: AbortSignal): Promise<WebPage> | undefined;
}

/** Takes a sentence for the person about something that could not be had. */
export type OnProblem = (problem: string) => void;
