import type { ColumnType, Generated } from "kysely";
import type { PluginDatabase } from "#kernel/plugin.ts";
import type { VectorTable } from "#storage/vectors.ts";

/** A text that is searched: a file's, or one that was handed in. A file whose text changes gets a new row. */
export interface SourceTable {
  id: Generated<number>;
  /** The file's id, or one of its own. */
  item_id: string;
  file_id: string | null;
  user_id: string;
  name: string;
  url: string | null;
  content: string;
  /** Pages, sheets and parts of `content`, in the order of their start: `TextPlace`. */
  places: ColumnType<readonly object[], unknown, unknown>;
  /** Name of the text search configuration. */
  language: string;
  /** `writing` until all passages are there, `gone` until all are removed; searches see `live` alone. */
  status: "writing" | "live" | "gone";
  passages: Generated<number>;
  /** The embedding index that holds a vector of each passage. */
  embedded_in: number | null;
  /** Failed tries to embed since the last success. */
  attempts: Generated<number>;
  /** Why the last try failed. */
  error: string | null;
  /** True once no further try follows by itself. */
  gave_up: Generated<boolean>;
  /** Epoch seconds before which no worker takes the source: a lease, or the pause after a failure. */
  free_at: Generated<number>;
  created_at: number;
}

export interface PassageTable {
  id: Generated<number>;
  source_id: number;
  position: number;
  content: string;
  start_at: number;
  end_at: number;
  page: number | null;
  sheet: string | null;
  part: string | null;
  headings: string[];
  /** Lexemes with every occurrence, so `ts_rank` tells how often each occurs. */
  lexemes: ColumnType<string, unknown, unknown>;
  /** Occurrences of lexemes. */
  length: number;
}

/** What BM25 needs to know of a collection as a whole. */
export interface CollectionTable {
  /** Lower case, with hyphens for underscores (ENABLE_RETRIEVAL_UNSCOPED_COLLECTIONS: names match that way). */
  name: string;
  /** The owner of texts that were handed in; null for collections of other plugins. */
  user_id: string | null;
  passages: Generated<number>;
  length: Generated<number>;
}

/** Sources of a collection, by the item's id: a file that is not yet read can be a member. */
export interface MemberTable {
  collection: string;
  item_id: string;
}

/** In how many passages of a collection a lexeme stands. */
export interface TermTable {
  collection: string;
  lexeme: string;
  passages: number;
}

/** One set of vectors of the same model. */
export interface EmbeddingIndexTable {
  id: Generated<number>;
  engine: string;
  model: string;
  content_prefix: string;
  /** Null until the first vector came. */
  dimensions: number | null;
  status: "filling" | "serving" | "old";
  created_at: number;
}

export interface RetrievalTables {
  retrieval_source: SourceTable;
  retrieval_passage: PassageTable;
  retrieval_collection: CollectionTable;
  retrieval_member: MemberTable;
  retrieval_term: TermTable;
  embedding_index: EmbeddingIndexTable;
  passage_vector: VectorTable;
}

export type RetrievalDatabase = PluginDatabase<RetrievalTables>;
