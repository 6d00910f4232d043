import { AppError } from "#kernel/errors.ts";
import type { VectorIndex } from "#storage/vectors.ts";
import type { Scored } from "./keyword.ts";
import { type PlainScope, sourcesOf } from "./scope-sql.ts";
import type { SearchParts } from "./parts.ts";
import type { Tracer } from "./trace.ts";

export interface VectorQuestion {
  readonly scope: PlainScope;
  readonly queries: readonly string[];
  /** Passages of the scope. */
  readonly expected: number;
  readonly limit: number;
  readonly signal: AbortSignal;
}

export interface VectorResult {
  /** By question, best first. */
  readonly found: readonly (readonly Scored[])[];
  /** The same with the similarities of passages that words alone found: each needs both scores for the sum. */
  compare(words: readonly (readonly Scored[])[]): Promise<Scored[][]>;
}

type VectorSearch = (question: VectorQuestion, tracer: Tracer) => Promise<VectorResult | undefined>;

/** Builds the search by meaning; it resolves to undefined, with a note, where there are no vectors to search. */
export function createVectorSearch(parts: SearchParts): VectorSearch {
  return async (question, tracer) => {
    try {
      return await search(parts, question, tracer);
    } catch (error) {
      question.signal.throwIfAborted();
      parts.log.warn({ err: error }, "passages were searched by words alone");
      const reason = error instanceof AppError ? String(error.detail) : "Searching vectors failed.";
      tracer.note(`Searched by words alone: ${reason}`);
      return undefined;
    }
  };
}

async function search(
  parts: SearchParts,
  { scope, queries, expected, limit, signal }: VectorQuestion,
  tracer: Tracer,
): Promise<VectorResult | undefined> {
  const { settings } = parts;
  const serving = settings.bypass ? undefined : await parts.indexes.serving();
  if (serving === undefined || serving.dimensions === null) {
    tracer.note("Searched by words alone: no passage has a vector yet.");
    return undefined;
  }
  const index: VectorIndex = { id: serving.id, dimensions: serving.dimensions };
  const texts = queries.map((query) => settings.queryPrefix + query.slice(0, maxQuestion));
  const asked = await tracer.time("embed", () =>
    parts.embedder(serving).embed(texts, { isQuestion: true, signal }),
  );
  const wrong = asked.find((vector) => vector.length !== index.dimensions);
  if (wrong) {
    throw new AppError(
      "upstream",
      `The embedding model gives vectors of ${wrong.length} numbers, and those of passages have ${index.dimensions}.`,
    );
  }
  const store = await parts.vectors();
  const found = await tracer.time("vector", () =>
    Promise.all(
      asked.map(async (vector) =>
        (await store.nearest({ index, vector, limit, sources: sourcesOf(scope), expected })).map(toScored),
      ),
    ),
  );
  return {
    found,
    compare: (words) =>
      Promise.all(
        asked.map(async (vector, at) => {
          const near = found[at] ?? [];
          const known = new Set(near.map(({ id }) => id));
          const passages = (words[at] ?? []).map(({ id }) => id).filter((id) => !known.has(id));
          const more = passages.length === 0 ? [] : await store.compare({ index, vector, passages });
          return [...near, ...more.map(toScored)];
        }),
      ),
  };
}

/** Characters of a question that are embedded. */
const maxQuestion = 4_000;

const toScored = ({ passageId, similarity }: { passageId: number; similarity: number }): Scored => ({
  id: passageId,
  score: similarity,
});
