import type { Values } from "#config/variable.ts";
import type { Access } from "#kernel/access/resource.ts";
import type { Events } from "#kernel/events.ts";
import type { Jobs } from "#kernel/jobs.ts";
import type { Logger } from "#kernel/log.ts";
import type { Slot } from "#kernel/service.ts";
import type { Deployment, Notices } from "#kernel/services.ts";
import type { Blobs } from "#storage/blobs.ts";
import { createFileLoaders } from "./access.ts";
import type { filesConfig } from "./config.ts";
import { createFileActions, createFilesService, type FileEvent, type FilesOptions } from "./files.ts";
import { createListStore } from "./list-store.ts";
import { createListing } from "./listing.ts";
import { createProcessStore } from "./process-store.ts";
import { createProcessing } from "./process.ts";
import { createProgress } from "./progress.ts";
import { createRemoval, type Removal } from "./removal.ts";
import { contentRoutes } from "./routes/content.ts";
import { listRoutes } from "./routes/lists.ts";
import { manageRoutes } from "./routes/manage.ts";
import { countPassages } from "./passages.ts";
import type {
  ChatFileLists,
  FileIndex,
  FileObserver,
  FileProcessor,
  FileReferences,
  PassageSearch,
} from "./service.ts";
import { megabyte, storageOf } from "./quota.ts";
import { createFileStore } from "./store.ts";
import { createSweep } from "./sweep.ts";
import type { FilesDatabase } from "./tables.ts";
import { createChatFileTools } from "./tools/chat-file-tools.ts";
import { createUploads } from "./uploads.ts";

export interface FilesParts {
  readonly config: Values<typeof filesConfig>;
  readonly db: FilesDatabase;
  readonly log: Logger;
  readonly access: Access;
  readonly blobs: Blobs;
  readonly events: Events;
  readonly jobs: Jobs;
  readonly notices: Notices;
  readonly processors: Slot<FileProcessor>;
  readonly references: Slot<FileReferences>;
  readonly observers: Slot<FileObserver>;
  readonly indexes: Slot<FileIndex>;
  readonly chats: Slot<ChatFileLists>;
  readonly searches: Slot<PassageSearch>;
  readonly stopping: AbortSignal;
  readonly deployment: Deployment;
}

/** Joins the parts of the plugin. */
export function setUpFiles(parts: FilesParts) {
  const { config, blobs, log, db } = parts;
  const store = createFileStore(db);
  const lists = createListStore(db);
  const rules = {
    maxBytes: () => {
      const allowed = config.maxSize === null ? Infinity : config.maxSize * megabyte;
      const least = Math.min(allowed, blobs.maxBytes ?? Infinity);
      return least === Infinity ? null : least;
    },
    quotaBytes: () => (config.quota === null ? null : config.quota * megabyte),
    allowedExtensions: () => config.allowedExtensions,
  };
  const progress = createProgress({ notices: parts.notices, log, read: (id) => store.progressOf(id) });
  const orders = createProcessStore(db);
  const processing = createProcessing({
    ...parts,
    store: orders,
    open: (path) => blobs.read(path),
    announce: progress.announce,
    timeout: () => config.processingTimeout,
  });
  const removal = createRemoval({ ...parts, store, lists, progress });
  const loaders = createFileLoaders(store, parts.access, parts.references);
  const options: FilesOptions = {
    store,
    blobs,
    rules,
    progress,
    removal,
    log,
    observers: parts.observers,
    uploads: createUploads({ store, blobs, log, rules }),
    loaders,
    wake: processing.wake,
    offer: (id) => orders.offer(id).then(processing.wake),
    announce: announceOver(parts.events),
  };
  const service = createFilesService(options);
  const passages = countPassages(parts.indexes);
  const actions = createFileActions(service, options);
  const sweep = createSweep({ lists, blobs, log, removeOwnerless: removal.removeOwnerless });
  return {
    service,
    routes: [
      ...listRoutes(createListing(lists, parts.access, passages), (userId) =>
        storageOf(userId, { store, rules }),
      ),
      ...manageRoutes(service, actions, passages),
      ...contentRoutes(service, actions, progress),
    ],
    jobs: [...processing.jobs, ...sweep.jobs],
    tools: [createChatFileTools({ ...parts, loaders })],
    async start(): Promise<void> {
      await progress.start();
      if (parts.deployment.database === "embedded") {
        await processing.takeUp();
      }
      followAccounts(parts.events, removal);
    },
  };
}

function announceOver(events: Events): FilesOptions["announce"] {
  return (event: FileEvent, by, file) =>
    void events.announce(event, {
      actor: { id: by.userId, name: by.name, email: by.email, role: by.role },
      subject: file && { type: "file", id: file.id },
      data: file && { filename: file.filename, meta: file.meta },
    });
}

/** An account's files go with it; what a crash lets this miss, the job for ownerless files finds. */
function followAccounts(events: Events, removal: Removal): void {
  events.on("user.deleted", async ({ subject, data }) => {
    const id = subject?.id ?? (data as { user_id?: unknown } | null)?.user_id;
    if (typeof id === "string") {
      await removal.removeAllOf(id);
    }
  });
}
