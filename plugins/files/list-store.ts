import { sql } from "kysely";
import { anyOf } from "#storage/values.ts";
import type { FileFacts } from "./record.ts";
import { listedColumns } from "./store.ts";
import type { FilesDatabase } from "./tables.ts";

export interface Page {
  readonly offset: number;
  readonly limit: number;
}

/** A record without its text. */
export interface ListedFile extends FileFacts {
  /** Bytes of the text; null without one. */
  readonly text_size: number | null;
}

/** Whose files: one account's, or with null everybody's. */
export type Owner = string | null;

/** The queries over many files. */
export function createListStore(db: FilesDatabase) {
  /** Those of an owner whose name fits a LIKE pattern, whatever the case. */
  const of = (owner: Owner, pattern?: string) =>
    db
      .selectFrom("file")
      .$if(owner !== null, (query) => query.where("user_id", "=", owner as string))
      .$if(pattern !== undefined, (query) => query.where("filename", "ilike", pattern as string));

  const page = (query: ReturnType<typeof of>, { offset, limit }: Page): Promise<ListedFile[]> =>
    query
      .select(listedColumns)
      .select(sql<number | null>`octet_length(content)`.as("text_size"))
      .orderBy("created_at", "desc")
      .orderBy("id", "desc")
      .limit(limit)
      .offset(offset)
      .execute();

  return {
    /** Newest first. */
    list: (owner: Owner, wanted: Page, pattern?: string): Promise<ListedFile[]> =>
      page(of(owner, pattern), wanted),

    /** The texts of some files, by id. */
    async texts(ids: readonly string[]): Promise<Map<string, string>> {
      const query = db.selectFrom("file").select(["id", "content"]).where("id", "=", anyOf(ids));
      return new Map((await query.execute()).map(({ id, content }) => [id, content ?? ""]));
    },

    async count(owner: Owner, pattern?: string): Promise<number> {
      const counted = of(owner, pattern).select((eb) => eb.fn.countAll<number>().as("total"));
      return Number((await counted.executeTakeFirstOrThrow()).total);
    },

    /** Some ids of an owner's files, or of all; an empty list means that there are none left. */
    async someIds(owner: Owner, limit: number): Promise<string[]> {
      const rows = await of(owner).select("id").orderBy("id").limit(limit).execute();
      return rows.map((row) => row.id);
    },

    /** Ids of files whose owner's account is gone. */
    async ownerlessIds(limit: number): Promise<string[]> {
      const rows = await db
        .selectFrom("file")
        .select("file.id")
        .where(({ not, exists, selectFrom }) =>
          not(exists(selectFrom("user").select("user.id").whereRef("user.id", "=", "file.user_id"))),
        )
        .limit(limit)
        .execute();
      return rows.map((row) => row.id);
    },

    /** Which of some blob keys belong to a file. */
    async knownPaths(paths: readonly string[]): Promise<Set<string>> {
      const rows = await db.selectFrom("file").select("path").where("path", "in", paths).execute();
      return new Set(rows.map((row) => row.path as string));
    },
  };
}

export type ListStore = ReturnType<typeof createListStore>;
