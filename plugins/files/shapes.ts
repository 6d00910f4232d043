import type { Principal } from "#kernel/access/principal.ts";

/** A file record as the wire shows it. */
export interface FileRecord {
  id: string;
  user_id: string;
  /** SHA-256 of the stored bytes in hex. */
  hash: string | null;
  /** For display only: never a path, never a key. */
  filename: string;
  /** Key of the stored bytes, which opens nothing by itself; left out in lists. */
  path?: string | null;
  /** `{status: "pending" | "completed" | "failed", content?, error}` and what processors add. */
  data: Record<string, unknown>;
  /** `{name, content_type, size, file_hash, data, collection_name}` and further keys. */
  meta: Record<string, unknown>;
  created_at: number;
  updated_at: number;
}

/** A piece of a file's text that fits a question. */
export interface Passage {
  readonly fileId: string;
  readonly content: string;
  /** From 0 to 1, which is best. */
  readonly score: number;
}

/** Finds the pieces of files that answer a question, better than by words alone. */
export interface PassageSearch {
  /** The files are the caller's to read; the best come first. */
  search(question: {
    readonly principal: Principal;
    readonly files: readonly FileRecord[];
    readonly query: string;
    readonly count: number;
    readonly signal: AbortSignal;
  }): Promise<readonly Passage[]>;
}
