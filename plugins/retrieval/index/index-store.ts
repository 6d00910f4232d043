import { seconds } from "#storage/clock.ts";
import type { EmbeddingModel } from "../embedding/embedder.ts";
import type { RetrievalDatabase } from "../tables.ts";
import type { StoreParts } from "./source-store.ts";

export interface EmbeddingIndex extends EmbeddingModel {
  readonly id: number;
  readonly content_prefix: string;
  readonly dimensions: number | null;
  readonly status: "filling" | "serving" | "old";
}

const columns = ["id", "engine", "model", "content_prefix", "dimensions", "status"] as const;

/** The generations of vectors: one serves, and after a change of the model a second fills beside it. */
export function createIndexStore({ db, transaction }: StoreParts) {
  return {
    async serving(): Promise<EmbeddingIndex | undefined> {
      return await db
        .selectFrom("embedding_index")
        .select(columns)
        .where("status", "=", "serving")
        .executeTakeFirst();
    },

    /** The index that passages of now go into; a new one for a model that has none. */
    target: (model: EmbeddingModel, contentPrefix: string) =>
      findTarget({ db, transaction }, model, contentPrefix),

    /** Notes the size of an index's vectors; resolves to the size that another worker noted first, if one did. */
    async setDimensions(id: number, dimensions: number): Promise<number> {
      await db
        .updateTable("embedding_index")
        .set({ dimensions })
        .where("id", "=", id)
        .where("dimensions", "is", null)
        .execute();
      const row = await db
        .selectFrom("embedding_index")
        .select("dimensions")
        .where("id", "=", id)
        .executeTakeFirst();
      return row?.dimensions ?? dimensions;
    },

    /** Lets a filled index serve in place of the one before it. */
    async swap(id: number): Promise<void> {
      await transaction(async (tx) => {
        await tx
          .updateTable("embedding_index")
          .set({ status: "old" })
          .where("status", "=", "serving")
          .execute();
        await tx.updateTable("embedding_index").set({ status: "serving" }).where("id", "=", id).execute();
      });
    },

    /** Gives up every index; the next text that is embedded begins a new one. */
    async retireAll(): Promise<void> {
      await db.updateTable("embedding_index").set({ status: "old" }).execute();
    },

    old: () => db.selectFrom("embedding_index").select("id").where("status", "=", "old").execute(),

    async forget(id: number): Promise<void> {
      await db.deleteFrom("embedding_index").where("id", "=", id).execute();
    },
  };
}

export type IndexStore = ReturnType<typeof createIndexStore>;

async function findTarget(
  { db, transaction }: StoreParts,
  model: EmbeddingModel,
  contentPrefix: string,
): Promise<EmbeddingIndex> {
  const fits = (index: EmbeddingIndex) =>
    index.status !== "old" &&
    index.engine === model.engine &&
    index.model === model.model &&
    index.content_prefix === contentPrefix;
  const all = (tx: RetrievalDatabase) => tx.selectFrom("embedding_index").select(columns).execute();
  const known = await all(db);
  const found = known.find(fits);
  if (found && known.every((index) => index === found || index.status !== "filling")) {
    return found;
  }
  return await transaction(async (tx) => {
    // What was begun for a model that is no longer wanted is given up, and so is what serves without a single vector.
    await tx
      .updateTable("embedding_index")
      .set({ status: "old" })
      .where((eb) =>
        eb.or([
          eb("status", "=", "filling"),
          eb.and([eb("status", "=", "serving"), eb("dimensions", "is", null)]),
        ]),
      )
      .where("id", "<>", found?.id ?? -1)
      .execute();
    const isFirst = known.every(({ status, dimensions }) => status !== "serving" || dimensions === null);
    await tx
      .insertInto("embedding_index")
      .values({
        engine: model.engine,
        model: model.model,
        content_prefix: contentPrefix,
        dimensions: null,
        status: isFirst ? "serving" : "filling",
        created_at: seconds(),
      })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
    return (await all(tx)).find(fits) as EmbeddingIndex;
  });
}
