import type { Egress } from "#kernel/egress/egress.ts";
import type { Logger } from "#kernel/log.ts";
import type { VectorStore } from "#storage/vectors.ts";
import type { RetrievalSettings } from "../config.ts";
import type { Embedder, EmbeddingModel } from "../embedding/embedder.ts";
import type { IndexStore } from "../index/index-store.ts";
import type { FoundPassage } from "../service.ts";
import type { RetrievalDatabase } from "../tables.ts";
import type { LoadedPassage } from "./passage-store.ts";

export interface SearchParts {
  readonly db: RetrievalDatabase;
  readonly settings: RetrievalSettings;
  readonly indexes: IndexStore;
  readonly egress: Egress;
  readonly log: Logger;
  vectors(): Promise<VectorStore>;
  embedder(model: EmbeddingModel): Embedder;
}

/** A passage on its way into the result. */
export type Candidate = LoadedPassage & {
  readonly score: number;
  readonly scores: FoundPassage["scores"];
};
