import type { Values } from "#config/variable.ts";
import type { Access } from "#kernel/access/resource.ts";
import type { Events } from "#kernel/events.ts";
import type { Job, Jobs } from "#kernel/jobs.ts";
import type { Logger } from "#kernel/log.ts";
import type { Notices } from "#kernel/services.ts";
import type { Hub } from "#kernel/sockets/hub.ts";
import type { Grants } from "#storage/grants.ts";
import type { Accounts } from "#plugins/accounts/service.ts";
import type { Audit } from "#plugins/audit/service.ts";
import type { Files } from "#plugins/files/service.ts";
import type { Retrieval } from "#plugins/retrieval/service.ts";
import { findCollection, listOwnerless } from "./collections/collection-store.ts";
import { type Collections, createCollections } from "./collections/collections.ts";
import { createListing } from "./collections/listing.ts";
import type { knowledgeConfig } from "./config.ts";
import { createDirectories } from "./directories/directories.ts";
import { createFileList } from "./files/file-list.ts";
import { createLinking } from "./files/linking.ts";
import { listLinks } from "./files/link-store.ts";
import { mendLinks } from "./files/observer.ts";
import { createLinkProgress } from "./files/progress.ts";
import type { KnowledgeParts } from "./parts.ts";
import {
  type CollectionRow,
  type KnowledgeDatabase,
  type KnowledgeTransaction,
  resourceType,
} from "./tables.ts";
import { administrationRoutes, reindexJob, type ReindexOrder } from "./routes/administration.ts";
import { collectionRoutes } from "./routes/collections.ts";
import { directoryRoutes } from "./routes/directories.ts";
import { fileRoutes } from "./routes/files.ts";
import { createDetail, createExport, type KnowledgeLogic } from "./logic.ts";
import { createSync } from "./sync/sync.ts";

import { lookAtFolders, parseWatched } from "./watch/watch.ts";
import { createWatchStates } from "./watch/watch-store.ts";

export interface KnowledgeContext {
  readonly config: Values<typeof knowledgeConfig>;
  readonly db: KnowledgeDatabase;
  readonly transaction: KnowledgeTransaction;
  readonly log: Logger;
  readonly use: {
    readonly access: Access;
    readonly accounts: Accounts;
    readonly audit: Audit | undefined;
    readonly events: Events;
    readonly files: Files;
    readonly grants: Grants;
    readonly hub: Hub;
    readonly index: Retrieval | undefined;
    readonly jobs: Jobs;
    readonly notices: Notices;
  };
}

/** Joins the parts of the plugin. */
export function setUpKnowledge({ config, db, transaction, log, use }: KnowledgeContext) {
  const progress = createLinkProgress({ notices: use.notices, log });
  const parts: KnowledgeParts = {
    ...use,
    db,
    transaction,
    log,
    progress,
    collections: use.access.loader<CollectionRow>({
      type: resourceType,
      find: (id) => findCollection(db, id),
      ownerOf: (row) => row.user_id,
    }),
    record: async (entry, tx) => await use.audit?.record(entry, tx),
  };
  const linking = createLinking(parts);
  const fileList = createFileList(parts);
  const directories = createDirectories(parts, linking);
  const logic: KnowledgeLogic = {
    parts,
    linking,
    fileList,
    listing: createListing(parts),
    collections: createCollections(parts, linking),
    directories,
    sync: createSync(parts, linking),
    exportTexts: createExport(parts),
    detail: createDetail({ parts, fileList, watches: createWatchStates(db) }),
  };
  return {
    parts,
    logic,
    jobs: toJobs(config, logic),
    routes: [
      ...collectionRoutes(logic),
      ...fileRoutes(logic),
      ...directoryRoutes(logic),
      ...administrationRoutes(logic, use.jobs),
    ],
    async start(): Promise<void> {
      await progress.start();
      use.events.on("user.deleted", async ({ subject, data }) => {
        const id = subject?.id ?? (data as { user_id?: unknown } | null)?.user_id;
        if (typeof id === "string") {
          await logic.collections.removeAllOf(id);
        }
      });
    },
  };
}

/** Work that the plugin does by itself. */
function toJobs(
  config: KnowledgeContext["config"],
  { parts, linking, collections, directories }: KnowledgeLogic,
): Job[] {
  return [
    {
      id: "knowledge.mend",
      title: "Adds files whose reading was not announced to their collections",
      every: 30,
      expiresIn: 600,
      run: (_data, { signal }) => mendLinks(parts, linking, signal),
    },
    {
      id: "knowledge.sweep",
      title: "Removes collections of deleted accounts",
      every: 3600,
      expiresIn: 600,
      run: () => sweep(parts, collections),
    },
    {
      id: "knowledge.watch",
      title: "Reads watched folders and pages",
      every: () => config.watchInterval,
      expiresIn: 3600,
      run: (_data, { signal }) =>
        lookAtFolders({ parts, linking, directories }, parseWatched(config.watched), signal),
    },
    {
      id: reindexJob,
      title: "Rebuilds collections",
      retries: 3,
      expiresIn: 3600,
      run: (data, { signal }) => reindex(parts, data as ReindexOrder, signal),
    },
  ];
}

/** Ends collections whose account went while nobody listened. */
async function sweep({ db }: KnowledgeParts, collections: Collections): Promise<void> {
  for (let ids = await listOwnerless(db, 50); ids.length > 0; ids = await listOwnerless(db, 50)) {
    const rows = await Promise.all(ids.map((id) => findCollection(db, id)));
    await collections.end(rows.filter((row) => row !== undefined));
  }
}

/** Files that one call of the index is told of. */
const atOnce = 500;

async function reindex(
  { db, index, log }: KnowledgeParts,
  { contents }: ReindexOrder,
  signal: AbortSignal,
): Promise<void> {
  for (const { id } of await db.selectFrom("knowledge").select("id").orderBy("id").execute()) {
    const fileIds = (await listLinks(db, id, "processed")).map((row) => row.file_id);
    for (let at = 0; at < fileIds.length; at += atOnce) {
      signal.throwIfAborted();
      const some = fileIds.slice(at, at + atOnce);
      await index?.link(id, some);
      if (contents) {
        await index?.reindex(some);
      }
    }
    log.info({ collection: id, files: fileIds.length }, "a collection was handed to the index anew");
  }
}
