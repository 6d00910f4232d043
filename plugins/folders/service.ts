import type { Principal } from "#kernel/access/principal.ts";
import { defineService } from "#kernel/service.ts";

/** Something a folder lends to the chats in it: a file, a collection, a note. */
export interface KnowledgeItem {
  readonly type: string;
  readonly id: string;
  readonly name?: string | null | undefined;
  readonly [key: string]: unknown;
}

/** What folders lend to runs. The system prompt reaches them by itself. */
export interface Folders {
  /**
   * The knowledge of a folder that this caller may read now; none for a folder that the caller may not read. To be
   * asked anew for each run: files are deleted, and access is taken away.
   */
  knowledge(principal: Principal, folderId: string): Promise<KnowledgeItem[]>;
}

export const folders = defineService<Folders>("folders");
