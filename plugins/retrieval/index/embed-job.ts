import { AppError } from "#kernel/errors.ts";
import { createTurns, type Turns } from "#kernel/fair-queue.ts";
import type { Job, Jobs } from "#kernel/jobs.ts";
import type { Logger } from "#kernel/log.ts";
import type { VectorStore } from "#storage/vectors.ts";
import type { RetrievalSettings } from "../config.ts";
import type { Embedder, EmbeddingModel } from "../embedding/embedder.ts";
import { currentModel } from "../embedding/open-embedder.ts";
import type { EmbeddingIndex, IndexStore } from "./index-store.ts";
import type { ClaimedSource, QueueStore, WaitingPassage } from "./queue-store.ts";
import type { SteppedSource } from "./tell-progress.ts";

export interface EmbeddingParts {
  readonly settings: RetrievalSettings;
  readonly queue: QueueStore;
  readonly indexes: IndexStore;
  readonly jobs: Jobs;
  readonly log: Logger;
  readonly stopping: AbortSignal;
  vectors(): Promise<VectorStore>;
  embedder(model: EmbeddingModel): Embedder;
  /** Called after each step of a source. */
  tell(source: SteppedSource): Promise<void>;
}

export interface Embedding {
  readonly job: Job;
  /** Lets the job look for sources that wait. */
  wake(after?: number): Promise<void>;
}

const jobId = "retrieval.embed";
const leaseSeconds = 30;
/** A run hands over to the next one after this long, so that it never counts as lost. */
const runMs = 180_000;
const queuedMs = 20_000;
/** Milliseconds for which a list of several people who wait is used; a large queue takes a while to be looked through. */
const lookMs = 500;
/** Part of the sources whose vectors a new index needs before it serves. */
const enough = 0.9;

/**
 * Makes vectors in the background, a batch of each person in turn. After a change of the model the index of before
 * serves until the new one is complete.
 */
export function createEmbedding(parts: EmbeddingParts): Embedding {
  const { queue, jobs, indexes, settings, log } = parts;
  const next = createChoice(queue);
  let queuedAt = -Infinity;

  async function wake(after = 0): Promise<void> {
    // One order in the queue is enough: its run goes on until nothing waits.
    if (after > 0 || performance.now() - queuedAt > queuedMs) {
      queuedAt = after > 0 ? queuedAt : performance.now();
      await jobs.enqueue(jobId, {}, after > 0 ? { after } : {});
    }
  }

  async function run(signal: AbortSignal): Promise<void> {
    queuedAt = -Infinity;
    if (settings.bypass) {
      return;
    }
    const until = performance.now() + runMs;
    const index = () => indexes.target(currentModel(settings), settings.contentPrefix);
    let target = await index();
    while (!signal.aborted) {
      const source = await next(target.id);
      if (source === undefined) {
        break;
      }
      await embedBatch(parts, { index: target, source, signal });
      if (performance.now() > until) {
        await wake(1);
        return;
      }
      target = await index();
    }
    const pause = await queue.nextIn(target.id);
    if (pause === undefined) {
      await finish(parts, target);
    } else if (!signal.aborted) {
      await wake(Math.max(1, Math.min(60, pause)));
    }
  }

  return {
    wake,
    job: {
      id: jobId,
      title: "Computes embeddings",
      expiresIn: 600,
      run: async (_data, { signal }) => {
        await run(AbortSignal.any([signal, parts.stopping])).catch((error: unknown) => {
          if (!parts.stopping.aborted) {
            log.error({ err: error }, "embedding passages failed");
          }
        });
      },
    },
  };
}

/** Takes a source of the person whose turn it is. */
function createChoice(queue: QueueStore): (indexId: number) => Promise<ClaimedSource | undefined> {
  const turns: Turns = createTurns(() => 1);
  let people = new Set<string>();
  let seenAt = -Infinity;
  return async (indexId) => {
    for (;;) {
      if (people.size < 2 || performance.now() - seenAt > lookMs) {
        people = new Set(await queue.people(indexId));
        seenAt = performance.now();
      }
      const userId = turns.next(people);
      if (userId === undefined) {
        return undefined;
      }
      // Batches come one after the other, so that a turn is over once its batch is chosen.
      turns.begin(userId)();
      const source = await queue.claim(indexId, { userId, leaseSeconds });
      if (source !== undefined) {
        return source;
      }
      people.delete(userId);
    }
  };
}

interface SourceRun {
  readonly index: EmbeddingIndex;
  readonly source: ClaimedSource;
  readonly signal: AbortSignal;
}

/** Embeds the next passages of a source and gives it back, or ends it when none is left. */
async function embedBatch(parts: EmbeddingParts, { index, source, signal }: SourceRun): Promise<void> {
  const { queue, settings, log } = parts;
  const lease = setInterval(
    () => void queue.renew(source.id, leaseSeconds).catch(() => undefined),
    (leaseSeconds * 1000) / 3,
  );
  try {
    const passages = await queue.passages(source.id, index.id, settings.batchSize);
    if (passages.length > 0) {
      const texts = passages.map((passage) => settings.contentPrefix + toEmbedded(passage));
      const made = await parts.embedder(index).embed(texts, { isQuestion: false, signal });
      await store(parts, index, { passages, made });
    }
    clearInterval(lease);
    await (passages.length < settings.batchSize ? queue.done(source.id, index.id) : queue.release(source.id));
    await parts.tell(source);
  } catch (error) {
    clearInterval(lease);
    if (signal.aborted) {
      await queue.release(source.id).catch(() => undefined);
      return;
    }
    log.warn({ err: error, source: source.id }, "a text could not be embedded");
    await queue.failed(source, toReason(error));
    await parts.tell(source);
  }
}

/** Titles tell the model what a passage is about. */
export function toEmbedded({ headings, content }: Pick<WaitingPassage, "headings" | "content">): string {
  return headings.length === 0 ? content : `${headings.join(" › ")}\n${content}`;
}

async function store(
  { indexes, ...parts }: EmbeddingParts,
  index: EmbeddingIndex,
  { passages, made }: { passages: readonly WaitingPassage[]; made: readonly Float32Array[] },
): Promise<void> {
  const vectors = await parts.vectors();
  const size = made[0]?.length ?? 0;
  if (size === 0) {
    throw new AppError("upstream", "The embedding model gives vectors without numbers.");
  }
  const dimensions = index.dimensions ?? (await indexes.setDimensions(index.id, size));
  const wrong = made.find((vector) => vector.length !== dimensions);
  if (wrong) {
    throw new AppError(
      "upstream",
      `The embedding model gives vectors of ${wrong.length} numbers, and those of before have ${dimensions}.`,
    );
  }
  const at = { id: index.id, dimensions };
  await vectors.prepare(at);
  await vectors.add(
    at,
    passages.map((passage, position) => ({
      passageId: passage.id,
      sourceId: passage.source_id,
      vector: made[position] as Float32Array,
    })),
  );
}

/** Lets a complete index serve, and removes what no index needs any more. */
async function finish(
  { queue, indexes, vectors, log }: EmbeddingParts,
  target: EmbeddingIndex,
): Promise<void> {
  if (target.status === "filling") {
    const { all, embedded } = await queue.share(target.id);
    if (embedded < all * enough) {
      log.warn(
        { model: target.model, embedded, all },
        "the vectors of the new embedding model are incomplete; those of the old one go on serving",
      );
      return;
    }
    await indexes.swap(target.id);
  }
  for (const { id } of await indexes.old()) {
    await (await vectors()).drop(id);
    await indexes.forget(id);
  }
}

/** Only messages that are meant to be read are shown: others may name hosts. */
function toReason(error: unknown): string {
  return error instanceof AppError && typeof error.detail === "string"
    ? error.detail
    : "The embedding failed.";
}
