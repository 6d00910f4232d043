import type { Logger } from "#kernel/log.ts";
import type { FileObserver, FileRecord, Files, TextPlace } from "#plugins/files/service.ts";
import { anyOf } from "#storage/values.ts";
import type { RetrievalDatabase } from "../tables.ts";
import type { RetrievalEvents } from "../announce.ts";
import type { NewSource, SourceStore } from "./source-store.ts";

export interface FollowParts {
  readonly db: RetrievalDatabase;
  readonly log: Logger;
  readonly store: SourceStore;
  readonly files: Pick<Files, "find" | "idsWithText" | "owners">;
  write(source: Omit<NewSource, "language">): Promise<boolean>;
  remove(itemIds: readonly string[]): Promise<void>;
  wake(): Promise<void>;
}

/** Keeps the index in step with files: their text is found as soon as it is stored, and goes with them. */
export function followFiles({
  write,
  remove,
  events,
}: Pick<FollowParts, "write" | "remove"> & {
  readonly events: Pick<RetrievalEvents, "processed">;
}): FileObserver {
  return {
    id: "retrieval",
    async processed(file) {
      const content = file.data["content"];
      if (typeof content === "string" && content !== "") {
        const source = toSource(file, content);
        if (await write(source)) {
          events.processed(source);
        }
      } else {
        await remove([file.id]);
      }
    },
    removed: (files) => remove(files.map(({ id }) => id)),
  };
}

function toSource(file: FileRecord, content: string): Omit<NewSource, "language"> {
  const { places } = file.data;
  const { source } = file.meta;
  return {
    itemId: file.id,
    fileId: file.id,
    userId: file.user_id,
    name: file.filename,
    url: typeof source === "string" && /^https?:/.test(source) ? source : null,
    content,
    places: Array.isArray(places) ? places.filter(isPlace) : [],
  };
}

function isPlace(place: unknown): place is TextPlace {
  return typeof (place as TextPlace | null)?.start === "number";
}

/**
 * Indexes files that were read while the plugin was away. Resolves to how many there were; one that cannot be indexed is
 * logged and keeps nothing from the others.
 */
export async function catchUp(
  { db, log, files, write }: Pick<FollowParts, "db" | "log" | "files" | "write">,
  signal: AbortSignal,
): Promise<number> {
  let [count, after]: [number, string | undefined] = [0, undefined];
  for (;;) {
    const ids: string[] = await files.idsWithText(after, pageSize);
    for (const id of await withoutPassages(db, ids)) {
      signal.throwIfAborted();
      count += (await indexFile({ log, files, write }, id)) ? 1 : 0;
    }
    if (ids.length < pageSize) {
      return count;
    }
    after = ids.at(-1);
  }
}

async function withoutPassages(db: RetrievalDatabase, ids: readonly string[]): Promise<string[]> {
  const rows = await db
    .selectFrom("retrieval_source")
    .select("item_id")
    .where("item_id", "=", anyOf(ids))
    .where("status", "<>", "gone")
    .execute();
  const known = new Set(rows.map((row) => row.item_id));
  return ids.filter((id) => !known.has(id));
}

async function indexFile(
  { log, files, write }: Pick<FollowParts, "log" | "files" | "write">,
  id: string,
): Promise<boolean> {
  try {
    const file = await files.find(id);
    const content = file?.data["content"];
    return file !== undefined && typeof content === "string" && (await write(toSource(file, content)));
  } catch (error) {
    log.error({ err: error, file: id }, "a file could not be indexed");
    return false;
  }
}

const pageSize = 500;
/** A writer that has not ended after this long is dead. */
const writerSeconds = 3600;

/** Removes what a crash left behind: passages of files that are gone, and texts that were never finished. */
export async function reconcile({ db, store, files, remove, wake }: FollowParts): Promise<void> {
  await store.sweep(writerSeconds);
  for (let last = 0; ;) {
    const rows = await db
      .selectFrom("retrieval_source")
      .select(["id", "file_id"])
      .where("status", "=", "live")
      .where("file_id", "is not", null)
      .where("id", ">", last)
      .orderBy("id")
      .limit(pageSize)
      .execute();
    const ids = rows.flatMap(({ file_id: id }) => (id === null ? [] : [id]));
    const existing = ids.length === 0 ? new Map<string, string>() : await files.owners(ids);
    await remove(ids.filter((id) => !existing.has(id)));
    if (rows.length < pageSize) {
      break;
    }
    last = rows.at(-1)?.id ?? last;
  }
  await wake();
}
