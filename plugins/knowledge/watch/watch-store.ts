import type { KnowledgeDatabase } from "../tables.ts";

const maxFailures = 100;

export interface WatchState {
  readonly folder: string;
  readonly looked_at: number;
  readonly is_running: boolean;
  readonly files: number;
  readonly failed: number;
  readonly error: string | null;
  /** Files that could not be read, by path. */
  readonly failures: readonly { readonly path: string; readonly error: string }[];
}

/** What became of the last look at the folder that a collection is kept in step with. */
export interface WatchStates {
  /** Null for a collection without a watched folder. */
  of(knowledgeId: string): Promise<WatchState | null>;
}

export function createWatchStates(db: KnowledgeDatabase): WatchStates {
  return {
    async of(knowledgeId) {
      const row = await db
        .selectFrom("knowledge_watch")
        .selectAll()
        .where("knowledge_id", "=", knowledgeId)
        .executeTakeFirst();
      if (row === undefined) {
        return null;
      }
      const failures = await db
        .selectFrom("knowledge_watch_file")
        .select(["path", "error"])
        .where("knowledge_id", "=", knowledgeId)
        .where("error", "is not", null)
        .orderBy("path")
        .limit(maxFailures)
        .execute();
      const { folder, looked_at, is_running, files, failed, error } = row;
      return {
        folder,
        looked_at,
        is_running,
        files: Number(files),
        failed: Number(failed),
        error,
        failures: failures.map((failure) => ({ path: failure.path, error: failure.error ?? "" })),
      };
    },
  };
}

/** A file of a watched folder as it was last read. */
export interface WatchedFile {
  readonly path: string;
  readonly file_id: string | null;
  readonly size: number;
  readonly modified_ms: number;
  readonly hash: string | null;
  readonly error: string | null;
}

export async function listWatched(db: KnowledgeDatabase, knowledgeId: string): Promise<WatchedFile[]> {
  const rows = await db
    .selectFrom("knowledge_watch_file")
    .select(["path", "file_id", "size", "modified_ms", "hash", "error"])
    .where("knowledge_id", "=", knowledgeId)
    .execute();
  return rows.map((row) => ({ ...row, size: Number(row.size), modified_ms: Number(row.modified_ms) }));
}

export async function saveWatched(
  db: KnowledgeDatabase,
  knowledgeId: string,
  file: WatchedFile,
): Promise<void> {
  const { path, ...fields } = file;
  await db
    .insertInto("knowledge_watch_file")
    .values({ knowledge_id: knowledgeId, path, ...fields })
    .onConflict((conflict) => conflict.columns(["knowledge_id", "path"]).doUpdateSet(fields))
    .execute();
}

export async function forgetWatched(db: KnowledgeDatabase, knowledgeId: string, path: string): Promise<void> {
  await db
    .deleteFrom("knowledge_watch_file")
    .where("knowledge_id", "=", knowledgeId)
    .where("path", "=", path)
    .execute();
}

export async function saveState(
  db: KnowledgeDatabase,
  state: {
    knowledge_id: string;
    folder: string;
    looked_at: number;
    is_running: boolean;
    files: number;
    failed: number;
    error: string | null;
  },
): Promise<void> {
  const { knowledge_id: id, ...fields } = state;
  await db
    .insertInto("knowledge_watch")
    .values({ knowledge_id: id, ...fields })
    .onConflict((conflict) => conflict.column("knowledge_id").doUpdateSet(fields))
    .execute();
}

/** Ends the states of collections that no folder is watched for any more; their files stay. */
export async function keepStates(db: KnowledgeDatabase, knowledgeIds: readonly string[]): Promise<void> {
  const others = await db.selectFrom("knowledge_watch").select("knowledge_id").execute();
  for (const { knowledge_id: id } of others.filter((row) => !knowledgeIds.includes(row.knowledge_id))) {
    await db.deleteFrom("knowledge_watch").where("knowledge_id", "=", id).execute();
  }
}
