import type { Principal } from "#kernel/access/principal.ts";
import { defineService } from "#kernel/service.ts";

/** A collection of files, as other plugins see it. */
export interface Collection {
  /** Also the name of its collection in the index. */
  readonly id: string;
  readonly name: string;
  readonly description: string;
}

export interface KnowledgeBases {
  /** Those of `ids` that the principal may read, in the order given. */
  readable(principal: Principal, ids: readonly string[]): Promise<readonly Collection[]>;
  /** Ids of the files of a collection that the principal may read. Throws `not_found`. */
  files(principal: Principal, id: string): Promise<readonly string[]>;
  /** Links a processed file to a collection that the principal may write. Throws `not_found`, `forbidden`, `invalid`. */
  add(principal: Principal, id: string, fileId: string, directoryId?: string): Promise<void>;
}

export const knowledge = defineService<KnowledgeBases>("knowledge");
