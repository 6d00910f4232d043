import { sql } from "kysely";
import type { StoreParts } from "./source-store.ts";
import { countSources, lockStatistics } from "./statistics.ts";

/** Files that are counted into a collection with one transaction, so that others wait only shortly. */
const linkStep = 50;

/** Which sources a collection has. */
export function createCollections({ db, transaction }: StoreParts) {
  const change = (collection: string, itemIds: readonly string[], sign: 1 | -1) =>
    transaction(async (tx) => {
      await lockStatistics(tx);
      const ids = [...itemIds];
      const changed =
        sign === 1
          ? await sql<{ item_id: string }>`insert into retrieval_member (collection, item_id)
              select ${collection}, id from unnest(${ids}::text[]) as t (id)
              on conflict do nothing returning item_id`.execute(tx)
          : await sql<{ item_id: string }>`delete from retrieval_member
              where collection = ${collection} and item_id = any(${ids}::text[]) returning item_id`.execute(
              tx,
            );
      const items = changed.rows.map((row) => row.item_id);
      const live = await tx
        .selectFrom("retrieval_source")
        .select("id")
        .where("status", "=", "live")
        .where("item_id", "=", sql<string>`any(${items}::text[])`)
        .execute();
      await countSources(tx, { collections: [collection], sources: live.map(({ id }) => id), sign });
    });

  async function inSteps(collection: string, itemIds: readonly string[], sign: 1 | -1): Promise<void> {
    for (let at = 0; at < itemIds.length; at += linkStep) {
      await change(collection, itemIds.slice(at, at + linkStep), sign);
    }
  }

  return {
    /** Makes a collection unless there is one; false when there was. */
    async make(name: string, userId: string | null): Promise<boolean> {
      const { numInsertedOrUpdatedRows } = await db
        .insertInto("retrieval_collection")
        .values({ name, user_id: userId })
        .onConflict((conflict) => conflict.doNothing())
        .executeTakeFirst();
      return (numInsertedOrUpdatedRows ?? 0n) > 0n;
    },

    link: (collection: string, itemIds: readonly string[]) => inSteps(collection, itemIds, 1),
    unlink: (collection: string, itemIds: readonly string[]) => inSteps(collection, itemIds, -1),

    /** Removes a collection; resolves to whether it was there, and to the texts that only it had. */
    async drop(collection: string): Promise<{ wasThere: boolean; texts: string[] }> {
      const texts = await this.textsOf(collection);
      const { numDeletedRows } = await transaction(async (tx) => {
        await lockStatistics(tx);
        return await tx.deleteFrom("retrieval_collection").where("name", "=", collection).executeTakeFirst();
      });
      return { wasThere: numDeletedRows > 0n, texts };
    },

    /** Texts of a collection that are no files: they belong to it alone. */
    async textsOf(collection: string): Promise<string[]> {
      const rows = await db
        .selectFrom("retrieval_source as s")
        .innerJoin("retrieval_member as m", "m.item_id", "s.item_id")
        .select("s.item_id")
        .where("m.collection", "=", collection)
        .where("s.file_id", "is", null)
        .execute();
      return rows.map((row) => row.item_id);
    },

    /** The owners of collections that exist: null for those of other plugins. */
    async owners(names: readonly string[]): Promise<Map<string, string | null>> {
      const rows = await db
        .selectFrom("retrieval_collection")
        .select(["name", "user_id"])
        .where("name", "in", [...names, ""])
        .execute();
      return new Map(rows.map((row) => [row.name, row.user_id]));
    },

    async ownedBy(userId: string): Promise<string[]> {
      const rows = await db
        .selectFrom("retrieval_collection")
        .select("name")
        .where("user_id", "=", userId)
        .execute();
      return rows.map(({ name }) => name);
    },
  };
}

export type Collections = ReturnType<typeof createCollections>;
