import type { Kysely } from "kysely";
import type { Migration } from "kysely/migration";

export const createBackups: Migration = {
  async up({ schema }: Kysely<unknown>) {
    await schema
      .createTable("backup")
      .addColumn("id", "text", (column) => column.primaryKey())
      .addColumn("started_at", "bigint", (column) => column.notNull())
      .addColumn("finished_at", "bigint")
      .addColumn("place", "text", (column) => column.notNull())
      .addColumn("name", "text", (column) => column.notNull())
      .addColumn("bytes", "bigint")
      .addColumn("error", "text")
      .addColumn("verified_at", "bigint")
      .addColumn("verify_error", "text")
      .addColumn("removed_at", "bigint")
      .execute();
  },
};
