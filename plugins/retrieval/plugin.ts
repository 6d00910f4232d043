import { core } from "#config/core.ts";
import { access } from "#kernel/access/resource.ts";
import { definePlugin, tables } from "#kernel/plugin.ts";
import { fill, optional, provide } from "#kernel/service.ts";
import { configuration, deployment, egress, events, jobs, vectorStores } from "#kernel/services.ts";
import { hub } from "#kernel/sockets/hub.ts";
import { audit } from "#plugins/audit/service.ts";
import { fileIndexes, fileObservers, files, passageSearches } from "#plugins/files/service.ts";
import { retrievalVariables } from "./config.ts";
import { createRetrieval } from "./create-retrieval.ts";
import { countOf, searchPassages } from "./file-passages.ts";
import { catchUp, followFiles, reconcile } from "./index/follow-files.ts";
import { createRetrieval as retrieval0001 } from "./migrations/0001_retrieval.ts";
import { allRoutes } from "./routes/routes.ts";
import { createGolden } from "./golden/golden.ts";
import { createGoldenStore } from "./golden/golden-store.ts";
import { keeper, labRoutes } from "./golden/routes.ts";
import type { GoldenTables } from "./golden/tables.ts";
import { createGolden as golden0002 } from "./migrations/0002_golden.ts";
import { collectionAccess, promptPreviews, retrieval } from "./service.ts";
import type { RetrievalTables } from "./tables.ts";

const catchUpJob = "retrieval.catch-up";

export default definePlugin({
  id: "retrieval",
  title: "Retrieval",
  summary: "Finds passages of documents by their words and their meaning.",
  config: { ...retrievalVariables, dataDir: core.dataDir, offline: core.offlineMode },
  uses: {
    access,
    audit: optional(audit),
    configuration,
    deployment,
    egress,
    events,
    files,
    hub: optional(hub),
    jobs,
    others: collectionAccess,
    previews: promptPreviews,
    vectorStores,
  },
  provides: [retrieval],
  tables: tables<RetrievalTables & GoldenTables>(
    "retrieval_source",
    "retrieval_passage",
    "retrieval_collection",
    "retrieval_member",
    "retrieval_term",
    "embedding_index",
    "passage_vector",
    "golden_question",
    "golden_run",
  ),
  migrations: { "0001_retrieval": retrieval0001, "0002_golden": golden0002 },
  pages: [
    {
      id: "retrieval.lab",
      path: "/workspace/retrieval-lab",
      title: "Retrieval lab",
      icon: "flask",
      place: "workspace",
      order: 60,
      access: keeper,
    },
  ],

  setup({ config, use, db, log, signal, transaction }) {
    const parts = createRetrieval({
      ...use,
      db,
      transaction,
      settings: config,
      log,
      openVectors: use.vectorStores,
      stopping: signal,
    });
    const { service, embedding, reindexing, collections, drop, thread } = parts;
    const follow = { ...parts, db, log, files: use.files, wake: () => embedding.wake() };
    use.events.on("user.deleted", async ({ subject, data }) => {
      const id = subject?.id ?? (data as { user_id?: unknown } | null)?.user_id;
      for (const name of typeof id === "string" ? await collections.ownedBy(id) : []) {
        await drop(name);
      }
    });
    const routes = allRoutes({ ...parts, use });
    const golden = createGolden({ store: createGoldenStore(db), access: use.access, retrieval: service });
    return {
      services: [provide(retrieval, service)],
      fills: [
        fill(fileObservers, followFiles(parts)),
        fill(fileIndexes, countOf(service)),
        fill(passageSearches, searchPassages(service)),
      ],
      routes: { ...routes, api: [...routes.api, ...labRoutes({ retrieval: service, ...use }, golden)] },
      jobs: [
        embedding.job,
        reindexing.job,
        // What waits for vectors is found again here, should the order in the queue be lost.
        {
          id: "retrieval.look",
          title: "Looks for passages without embeddings",
          every: 60,
          run: () => embedding.wake(),
        },
        {
          id: catchUpJob,
          title: "Indexes files that were read before",
          retries: 2,
          expiresIn: 3_600,
          async run(_data, { signal }) {
            const count = await catchUp(follow, signal);
            if (count > 0) {
              log.info({ files: count }, "files that were read before were indexed");
            }
          },
        },
        {
          id: "retrieval.reconcile",
          title: "Compares the vector database with the passages",
          every: 3600,
          expiresIn: 1_800,
          run: () => reconcile(follow),
        },
      ],
      async start() {
        if (use.deployment.database === "embedded") {
          await parts.queue.releaseAll();
        }
        await embedding.wake();
        await use.jobs.enqueue(catchUpJob, {});
      },
      stop: () => thread.close(),
    };
  },
});
