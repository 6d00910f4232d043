import { sql } from "kysely";
import { seconds } from "#storage/clock.ts";
import type { TextPlace } from "#plugins/files/service.ts";
import { toSearchText } from "../passages/language.ts";
import type { Piece } from "../passages/split.ts";
import type { RetrievalDatabase } from "../tables.ts";
import { collectionsOf, countSources, lockStatistics } from "./statistics.ts";

/** A text with where it is from. */
export interface NewSource {
  readonly itemId: string;
  readonly fileId: string | null;
  readonly userId: string;
  readonly name: string;
  readonly url: string | null;
  readonly content: string;
  readonly places: readonly TextPlace[];
  readonly language: string;
}

export interface StoreParts {
  readonly db: RetrievalDatabase;
  transaction<R>(run: (tx: RetrievalDatabase) => Promise<R>): Promise<R>;
}

const removeStep = 500;

/** The rows of sources and their passages. A new text is written beside the old one, which serves until it is complete. */
export function createSourceStore({ db, transaction }: StoreParts) {
  return {
    /** Begins a source; searches do not see it yet. */
    async begin(source: NewSource): Promise<number> {
      const row = await db
        .insertInto("retrieval_source")
        .values({
          item_id: source.itemId,
          file_id: source.fileId,
          user_id: source.userId,
          name: source.name,
          url: source.url,
          content: source.content,
          places: sql`cast(${JSON.stringify(source.places)}::text as jsonb)`,
          language: source.language,
          status: "writing",
          created_at: seconds(),
        })
        .returning("id")
        .executeTakeFirstOrThrow();
      return row.id;
    },

    addPassages: (sourceId: number, batch: PassageBatch) => addPassages(db, sourceId, batch),

    /** Lets searches see a source in place of the item's older one; false when it was removed meanwhile. */
    publish(sourceId: number, itemId: string): Promise<boolean> {
      return transaction(async (tx) => {
        await lockStatistics(tx);
        const collections = await collectionsOf(tx, itemId);
        await retire(tx, itemId, collections);
        const { numUpdatedRows } = await tx
          .updateTable("retrieval_source")
          .set((eb) => ({
            status: "live",
            passages: eb
              .selectFrom("retrieval_passage")
              .select((inner) => inner.fn.countAll<number>().as("count"))
              .where("source_id", "=", sourceId),
          }))
          .where("id", "=", sourceId)
          .where("status", "=", "writing")
          .executeTakeFirst();
        await countSources(tx, { collections, sources: [sourceId], sign: 1 });
        return numUpdatedRows > 0n;
      });
    },

    /** Takes items out of every search and collection at once; their rows go with `sweep`. */
    async remove(itemIds: readonly string[]): Promise<void> {
      for (const itemId of itemIds) {
        await transaction(async (tx) => {
          await lockStatistics(tx);
          await retire(tx, itemId, await collectionsOf(tx, itemId));
          await tx
            .updateTable("retrieval_source")
            .set({ status: "gone" })
            .where("item_id", "=", itemId)
            .execute();
          await tx.deleteFrom("retrieval_member").where("item_id", "=", itemId).execute();
        });
      }
    },

    /** Removes the rows of sources that are gone, in steps, and of those whose writer died `writerSeconds` ago. */
    async sweep(writerSeconds: number, only?: readonly string[]): Promise<void> {
      const gone = await db
        .selectFrom("retrieval_source")
        .select("id")
        .where((eb) =>
          eb.or([
            eb("status", "=", "gone"),
            eb.and([eb("status", "=", "writing"), eb("created_at", "<", seconds() - writerSeconds)]),
          ]),
        )
        .$if(only !== undefined, (query) => query.where("item_id", "in", [...(only ?? []), ""]))
        .execute();
      for (const { id } of gone) {
        await removePassages(db, id);
        await db.deleteFrom("retrieval_source").where("id", "=", id).execute();
      }
    },
  };
}

/** Passages whose numbers go on from `position`. */
export interface PassageBatch {
  readonly pieces: readonly Piece[];
  readonly position: number;
  readonly language: string;
}

async function addPassages(
  db: RetrievalDatabase,
  sourceId: number,
  { pieces, position, language }: PassageBatch,
): Promise<void> {
  const rows = pieces.map((piece, index) => ({
    position: position + index,
    content: piece.content,
    start_at: piece.start,
    end_at: piece.end,
    page: piece.place?.page ?? null,
    sheet: piece.place?.sheet ?? null,
    part: piece.place?.part ?? null,
    headings: piece.headings,
    // Titles are found as well: a passage below one need not repeat its words.
    words: toSearchText([...piece.headings, piece.content].join("\n")),
  }));
  await sql`insert into retrieval_passage
    (source_id, position, content, start_at, end_at, page, sheet, part, headings, lexemes, length)
    select ${sourceId}, n.position, n.content, n.start_at, n.end_at, n.page, n.sheet, n.part,
      array(select json_array_elements_text(n.headings)), v.lexemes,
      (select coalesce(sum(cardinality(positions)), 0)::integer from unnest(v.lexemes))
    from json_to_recordset(${JSON.stringify(rows)}::json) as n (position integer, content text, start_at integer,
      end_at integer, page integer, sheet text, part text, headings json, words text),
      lateral (select to_tsvector(${language}::regconfig, n.words) as lexemes) as v`.execute(db);
}

export type SourceStore = ReturnType<typeof createSourceStore>;

async function retire(tx: RetrievalDatabase, itemId: string, collections: readonly string[]): Promise<void> {
  const old = await tx
    .updateTable("retrieval_source")
    .set({ status: "gone" })
    .where("item_id", "=", itemId)
    .where("status", "=", "live")
    .returning("id")
    .execute();
  await countSources(tx, { collections, sources: old.map(({ id }) => id), sign: -1 });
}

async function removePassages(db: RetrievalDatabase, sourceId: number): Promise<void> {
  for (;;) {
    const { numDeletedRows } = await db
      .deleteFrom("retrieval_passage")
      .where("source_id", "=", sourceId)
      .where("id", "in", (eb) =>
        eb.selectFrom("retrieval_passage").select("id").where("source_id", "=", sourceId).limit(removeStep),
      )
      .executeTakeFirst();
    if (numDeletedRows < BigInt(removeStep)) {
      return;
    }
  }
}
