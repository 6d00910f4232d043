import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import type { RequestInfo } from "#kernel/http/route.ts";
import type { Reply } from "#kernel/http/route.ts";
import type { Upload } from "#kernel/http/upload.ts";
import type { Logger } from "#kernel/log.ts";
import type { Slot } from "#kernel/service.ts";
import type { Blobs } from "#storage/blobs.ts";
import type { FileLoaders } from "./access.ts";
import { requireAllowedExtension, toDisplayName } from "./names.ts";
import type { Progress } from "./progress.ts";
import { toRecord } from "./record.ts";
import type { Removal } from "./removal.ts";
import { tellObservers } from "./observers.ts";
import type { FileObserver, FileRecord, Files } from "./service.ts";
import { serveFile, type Serving } from "./serving.ts";
import type { FileStore } from "./store.ts";
import type { UploadRules, Uploads } from "./uploads.ts";

/** What others hear of a file (system events `file.…`). */
export type FileEvent =
  | "file.uploaded"
  | "file.renamed"
  | "file.content_updated"
  | "file.deleted"
  | "file.deleted_all";

export interface FilesOptions {
  readonly store: FileStore;
  readonly blobs: Blobs;
  readonly uploads: Uploads;
  readonly rules: UploadRules;
  readonly loaders: FileLoaders;
  readonly progress: Progress;
  readonly removal: Removal;
  readonly log: Logger;
  readonly observers: Slot<FileObserver>;
  /** Lets the workers look for orders. */
  wake(): Promise<void>;
  /** Lets them take a new file as well. */
  offer(id: string): Promise<void>;
  announce(event: FileEvent, by: Principal, file: FileRecord | null): void;
}

export interface UploadWishes {
  readonly process: boolean;
  readonly inBackground: boolean;
  readonly signal: AbortSignal;
}

/** What other plugins may do with files. */
export function createFilesService({
  store,
  blobs,
  uploads,
  loaders,
  progress,
  removal,
  ...options
}: FilesOptions): Files {
  return {
    load: async (principal, id, action) => toRecord(await loaders.reachable.load(principal, id, action)),

    authorize: async (principal, id, action) => void (await loaders.bare.load(principal, id, action)),

    async open(file) {
      const path = await store.pathOf(file.id);
      const bytes = path === undefined ? undefined : await blobs.read(path);
      if (bytes === undefined) {
        throw notFound();
      }
      return bytes;
    },

    create: (principal, { filename, contentType, bytes, meta }) =>
      uploads.create({ userId: principal.userId, filename, contentType, bytes, ...(meta ? { meta } : {}) }),

    async process(file, content) {
      const revision = await store.order(file.id, content);
      if (revision === undefined) {
        throw notFound();
      }
      progress.announce(file.id);
      await options.wake();
    },

    async settled(file, signal) {
      for await (const at of progress.follow(file.id, signal)) {
        if (at !== undefined && at.status !== "pending") {
          break;
        }
      }
      const row = await store.find(file.id);
      if (row === undefined) {
        throw notFound();
      }
      return toRecord(row);
    },

    list: async (ids) => (ids.length === 0 ? [] : (await store.listBare(ids)).map(toRecord)),
    text: async (id) => (await store.textOf(id)) ?? undefined,
    async find(id) {
      const row = await store.find(id);
      return row && toRecord(row);
    },
    idsWithText: (after, limit) => store.idsWithText(after, limit),
    owners: (ids) => store.ownersOf(ids),

    async remove(principal, id) {
      const record = toRecord(await loaders.owned.load(principal, id, "write"));
      await removal.remove([id]);
      options.announce("file.deleted", principal, record);
    },

    async removeAll(principal) {
      await removal.removeAllOf(null);
      options.announce("file.deleted_all", principal, null);
    },
  };
}

/** What the routes do with files. */
export interface FileActions {
  upload(principal: Principal, upload: Upload, wishes: UploadWishes): Promise<FileRecord>;
  /** Answers the bytes of a file. */
  serve(principal: Principal, id: string, how: { request: RequestInfo; as: Serving["as"] }): Promise<Reply>;
  /** The record without its text, for those who want to know of its processing. */
  loadBare(principal: Principal, id: string): Promise<FileRecord>;
  rename(principal: Principal, id: string, filename: string): Promise<FileRecord>;
  /** Replaces the text by hand; what is made of the text (embeddings) follows in the background. */
  setContent(principal: Principal, id: string, content: string): Promise<void>;
  /** Removes every file of the installation. */
  removeAll(principal: Principal): Promise<void>;
}

/** Joins the rules of stored files for the routes. */
export function createFileActions(service: Files, options: FilesOptions): FileActions {
  const { store, blobs, uploads, rules, loaders, log, announce } = options;

  return {
    async upload(principal, upload, wishes) {
      const observers = options.observers.list();
      const record = await uploads.receive(principal.userId, upload, {
        ...wishes,
        admit: async (metadata) => {
          for (const observer of observers) {
            await observer.admit?.(principal, metadata);
          }
        },
      });
      await tellObservers(observers, log, (observer) => observer.stored?.(principal, record));
      announce("file.uploaded", principal, record);
      if (!wishes.process) {
        return record;
      }
      try {
        await options.offer(record.id);
      } catch (error) {
        // The file is stored; the recovery job finds the order in the row.
        log.warn(
          { err: error, file: record.id },
          "a file waits longer to be processed, the queue did not answer",
        );
      }
      return wishes.inBackground ? record : service.settled(record, wishes.signal);
    },

    async serve(principal, id, { request, as }) {
      const file = toRecord(await loaders.bare.load(principal, id, "read"));
      return serveFile(blobs, { file, path: await store.pathOf(id), request, as });
    },

    loadBare: async (principal, id) => toRecord(await loaders.bare.load(principal, id, "read")),

    async rename(principal, id, filename) {
      await loaders.bare.load(principal, id, "write");
      const name = toDisplayName(filename);
      requireAllowedExtension(name, rules.allowedExtensions());
      const row = await store.rename(id, name);
      if (row === undefined) {
        throw notFound();
      }
      const record = toRecord(row);
      await tellObservers(options.observers.list(), log, (observer) => observer.renamed?.(record));
      announce("file.renamed", principal, record);
      return record;
    },

    async setContent(principal, id, content) {
      const record = toRecord(await loaders.bare.load(principal, id, "write"));
      await service.process(record, content);
      announce("file.content_updated", principal, record);
    },

    removeAll: (principal) => service.removeAll(principal),
  };
}

function notFound(): AppError {
  return new AppError("not_found", "Not found");
}
