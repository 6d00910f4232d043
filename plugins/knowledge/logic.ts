import type { Principal } from "#kernel/access/principal.ts";
import type { Collections } from "./collections/collections.ts";
import { toZip } from "./collections/export.ts";
import type { Listing } from "./collections/listing.ts";
import { showCollection } from "./collections/record.ts";
import type { Directories } from "./directories/directories.ts";
import type { FileList } from "./files/file-list.ts";
import { listLinks } from "./files/link-store.ts";
import type { Added, Linking } from "./files/linking.ts";
import type { KnowledgeParts } from "./parts.ts";
import type { Sync } from "./sync/sync.ts";
import type { WatchStates } from "./watch/watch-store.ts";

/** What the routes of collections call. */
export interface KnowledgeLogic {
  readonly parts: KnowledgeParts;
  readonly listing: Listing;
  readonly collections: Collections;
  readonly linking: Linking;
  readonly fileList: FileList;
  readonly directories: Directories;
  readonly sync: Sync;
  /** The texts of a collection as a zip. Throws `not_found`. */
  exportTexts(caller: Principal, id: string): Promise<AsyncIterable<Uint8Array>>;
  /** A collection with its files, as the caller may see it; what could not be added is told as warnings. */
  detail(caller: Principal, id: string, refused?: Added["refused"]): Promise<Detail>;
}

type Detail = Awaited<ReturnType<ReturnType<typeof createDetail>>>;

/** Reads a collection with its files. Throws `not_found`. */
export function createDetail({
  parts,
  fileList,
  watches,
}: {
  parts: KnowledgeParts;
  fileList: FileList;
  watches: WatchStates;
}) {
  return async (caller: Principal, id: string, refused: Added["refused"] = []) => {
    const row = await parts.collections.load(caller, id, "read");
    const [record, files, people, watch] = await Promise.all([
      showCollection(parts, caller, row),
      fileList.all(id),
      parts.accounts.summaries([row.user_id]),
      watches.of(id),
    ]);
    return {
      ...record,
      user: people.get(row.user_id) ?? null,
      files,
      // Paths of the server are administrators' to know.
      watch: watch && {
        ...watch,
        folder: caller.role === "admin" ? watch.folder : null,
        failures: record.write_access ? watch.failures : [],
      },
      ...(refused.length > 0 && {
        warnings: {
          message: `${refused.length} of the files could not be added.`,
          errors: refused.map(({ file, reason }) => `${file.filename}: ${reason}`),
        },
      }),
    };
  };
}

export function createExport(parts: KnowledgeParts): KnowledgeLogic["exportTexts"] {
  return async (caller, id) => {
    await parts.collections.load(caller, id, "read");
    return toZip(parts, id, await listLinks(parts.db, id, "processed"));
  };
}
