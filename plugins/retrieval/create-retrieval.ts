import { randomUUID } from "node:crypto";
import type { Principal } from "#kernel/access/principal.ts";
import type { Access } from "#kernel/access/resource.ts";
import type { Egress } from "#kernel/egress/egress.ts";
import type { Events } from "#kernel/events.ts";
import type { Jobs } from "#kernel/jobs.ts";
import type { Logger } from "#kernel/log.ts";
import type { Slot } from "#kernel/service.ts";
import type { OpenVectors } from "#kernel/services.ts";
import type { Hub } from "#kernel/sockets/hub.ts";
import type { VectorStore } from "#storage/vectors.ts";
import type { Files } from "#plugins/files/service.ts";
import { createRetrievalEvents, type RetrievalEvents } from "./announce.ts";
import { requireCollectionName, toCollectionName } from "./access/names.ts";
import { createScopes, type Scopes } from "./access/scope.ts";
import type { RetrievalSettings } from "./config.ts";
import type { EmbeddingModel } from "./embedding/embedder.ts";
import { createModelFetch, describeFetch, type ModelFetch } from "./embedding/model-fetch.ts";
import { openEmbedder } from "./embedding/open-embedder.ts";
import { createTextThread } from "./embedding/thread.ts";
import { type Collections, createCollections } from "./index/collections.ts";
import { createEmbedding } from "./index/embed-job.ts";
import { createIndexStore } from "./index/index-store.ts";
import { readProgress } from "./index/progress.ts";
import { createQueueStore } from "./index/queue-store.ts";
import { createReindexing } from "./index/reindex.ts";
import { createTeller } from "./index/tell-progress.ts";
import { createSourceStore, type NewSource, type StoreParts } from "./index/source-store.ts";
import { writeSource } from "./index/write-source.ts";
import { listPassages, loadTexts, type WholeText } from "./search/passage-store.ts";
import { toPlainScope } from "./search/scope-sql.ts";
import { createSearch } from "./search/search.ts";
import type { CollectionAccess, IndexProgress, NewText, Retrieval } from "./service.ts";

export interface RetrievalContext extends StoreParts {
  readonly settings: RetrievalSettings & { readonly dataDir: string; readonly offline: boolean };
  readonly log: Logger;
  readonly access: Access;
  readonly egress: Egress;
  readonly events: Pick<Events, "announce">;
  readonly files: Files;
  readonly hub: Hub | undefined;
  readonly jobs: Jobs;
  readonly others: Slot<CollectionAccess>;
  readonly openVectors: OpenVectors;
  readonly stopping: AbortSignal;
}

/** Joins the parts of the plugin. */
export function createRetrieval(context: RetrievalContext) {
  const { db, settings, log } = context;
  const events = createRetrievalEvents(context.events);
  const thread = createTextThread();
  const models = createModelFetch({ ...context, hub: () => (settings.offline ? "" : settings.hubUrl) });
  const store = createSourceStore(context);
  const queue = createQueueStore(db);
  const indexes = createIndexStore(context);
  const collections = createCollections(context);
  let opened: Promise<VectorStore> | undefined;
  const vectors = () => (opened ??= context.openVectors("passage_vector"));
  const embedder = (model: EmbeddingModel) =>
    openEmbedder({ settings, egress: context.egress, thread, models, dataDir: settings.dataDir }, model);
  const shared = { ...context, indexes, vectors, embedder };
  const progress = createProgress(context, models);
  const tell = createTeller(context.hub, progress);
  const embedding = createEmbedding({ ...shared, queue, tell });
  const writer = { settings, store, log, detect: (text: string) => thread.detect(text) };
  const scopes = createScopes({ ...context, collections });
  const write = async (source: Omit<NewSource, "language">) => {
    const isThere = await writeSource(writer, source);
    await tell(source);
    await embedding.wake();
    return isThere;
  };
  const remove = async (itemIds: readonly string[]) => {
    await store.remove(itemIds);
    await store.sweep(3600, itemIds);
  };
  const drop = async (name: string) => {
    const { wasThere, texts } = await collections.drop(name);
    await remove(texts);
    if (wasThere) {
      events.collectionDeleted(name);
    }
  };
  const reindexing = createReindexing({ ...context, write, queue });

  const service: Retrieval = {
    scope: (principal, named) => scopes.scope(principal, named),
    search: createSearch(shared),
    wantsWholeTexts: () => settings.fullContext || settings.bypass,

    requireWritable: async (principal, name) => void (await scopes.writable(principal, name)),
    addText: (text) => addText({ scopes, collections, events, write, remove }, text),
    async putText({ id, collection, userId, name, content }) {
      await collections.make(collection, null);
      await collections.link(collection, [id]);
      await write(toSource({ itemId: id, userId, name, url: null, content }));
    },
    removeTexts: remove,

    texts: async (scope, limit) => (await loadTexts(db, toPlainScope(scope), limit)).map(toText),

    async link(collection, fileIds) {
      const name = requireCollectionName(collection);
      await collections.make(name, null);
      await collections.link(name, fileIds);
    },
    unlink: (collection, fileIds) => collections.unlink(toCollectionName(collection), fileIds),
    drop: (collection) => drop(toCollectionName(collection)),
    passages: (fileId, page) => listPassages(db, fileId, page),
    progress,
    reindex: (fileIds) => reindexing.order(fileIds),
  };

  return {
    service,
    store,
    queue,
    indexes,
    collections,
    drop,
    events,
    embedding,
    reindexing,
    scopes,
    thread,
    models,
    write,
    remove,
    vectors,
  };
}

export type RetrievalParts = ReturnType<typeof createRetrieval>;

function createProgress(
  { db, settings }: Pick<RetrievalContext, "db" | "settings">,
  models: Pick<ModelFetch, "progress">,
): Retrieval["progress"] {
  return async (fileIds) => {
    const states = await readProgress(db, fileIds, !settings.bypass);
    const fetched = models.progress();
    return fetched === undefined ? states : withNote(states, describeFetch(fetched));
  };
}

/** Tells those whose vectors wait for it what they wait for. */
function withNote(states: ReadonlyMap<string, IndexProgress>, note: string): Map<string, IndexProgress> {
  const isWaiting = ({ status }: IndexProgress) => status === "pending" || status === "embedding";
  return new Map(
    [...states].map(([id, state]) => [id, isWaiting(state) ? { ...state, error: note } : state]),
  );
}

interface TextParts {
  readonly events: RetrievalEvents;
  readonly scopes: Scopes;
  readonly collections: Collections;
  write(source: Omit<NewSource, "language">): Promise<boolean>;
  remove(itemIds: readonly string[]): Promise<void>;
}

async function addText({ scopes, collections, events, write, remove }: TextParts, given: NewText) {
  const { owner, collection, overwrite, name, url, content } = given;
  const into =
    collection === undefined ? await makeOwn(owner, collections) : await scopes.writable(owner, collection);
  const replaced = overwrite ? await collections.textsOf(into) : [];
  const itemId = randomUUID();
  await collections.link(into, [itemId]);
  const source = toSource({ itemId, userId: owner.userId, name, url: url ?? null, content });
  if (await write(source)) {
    events.processed(source);
  }
  await remove(replaced);
  return { collection: into, sourceId: itemId };
}

const toSource = (text: Pick<NewSource, "itemId" | "userId" | "name" | "url" | "content">) => ({
  ...text,
  fileId: null,
  content: text.content.replaceAll("\u0000", ""),
  places: [],
});

const toText = (row: WholeText) => ({
  sourceId: row.item_id,
  fileId: row.file_id ?? undefined,
  name: row.name,
  url: row.url ?? undefined,
  content: row.content,
  // Both count as the database does: in signs, not in UTF-16 units.
  truncated: [...row.content].length < row.length,
});

async function makeOwn(owner: Principal, collections: Pick<Collections, "make">): Promise<string> {
  const name = `text-${randomUUID()}`;
  await collections.make(name, owner.userId);
  return name;
}
