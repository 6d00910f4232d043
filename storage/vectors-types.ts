import type { ColumnType, RawBuilder } from "kysely";

/** One vector of a passage in an embedding index; the column's type is the best that the database has. */
export interface VectorTable {
  index_id: number;
  passage_id: number;
  source_id: number;
  embedding: ColumnType<string, string, string>;
}

/** A set of vectors of the same size. */
export interface VectorIndex {
  readonly id: number;
  readonly dimensions: number;
}

export interface NewVector {
  readonly passageId: number;
  readonly sourceId: number;
  readonly vector: Float32Array;
}

export interface VectorQuery {
  readonly index: VectorIndex;
  readonly vector: Float32Array;
  readonly limit: number;
  /** A query for ids of sources: others are left out inside the search, never after it. */
  readonly sources: RawBuilder<unknown>;
  /** About how many vectors those sources have: few are compared one by one, which is exact. */
  readonly expected: number;
}

export interface NearVector {
  readonly passageId: number;
  /** Cosine similarity, from -1 to 1. */
  readonly similarity: number;
}

/** Stores vectors of passages and finds the nearest (architecture.md, Vectors). */
export interface VectorStore {
  readonly kind: "pgvector" | "array";
  /** Makes the index that searches of many vectors need; long for many, so it belongs into a job. */
  prepare(index: VectorIndex): Promise<void>;
  /** Adds vectors, or replaces those of the same passage; passages that are gone are left out. */
  add(index: VectorIndex, vectors: readonly NewVector[]): Promise<void>;
  /** Best first. */
  nearest(query: VectorQuery): Promise<NearVector[]>;
  /** Similarities of these passages, for those that have a vector. */
  compare(
    query: Pick<VectorQuery, "index" | "vector"> & { readonly passages: readonly number[] },
  ): Promise<NearVector[]>;
  /** Removes the vectors of an index for good, in steps. */
  drop(indexId: number): Promise<void>;
}
