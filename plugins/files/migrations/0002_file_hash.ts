import type { Kysely } from "kysely";
import type { Migration } from "kysely/migration";

/** Finds files by their bytes and by how they were processed, so that the same ones are not processed twice. */
export const migration: Migration = {
  async up(db: Kysely<never>) {
    const { schema } = db as unknown as Kysely<unknown>;
    await schema.alterTable("file").addColumn("fingerprint", "text").execute();
    await schema.createIndex("file_hash").on("file").column("hash").execute();
  },
};
