import type { Kysely } from "kysely";
import type { Migration } from "kysely/migration";

/** Where sessions began and when they were last used. */
export const migration: Migration = {
  async up({ schema }: Kysely<unknown>) {
    await schema
      .createTable("account_session")
      .addColumn("id", "text", (column) => column.primaryKey())
      .addColumn("user_id", "text", (column) => column.notNull().references("user.id").onDelete("cascade"))
      .addColumn("stamp", "text", (column) => column.notNull())
      .addColumn("method", "text", (column) => column.notNull())
      .addColumn("address", "text")
      .addColumn("client", "text")
      .addColumn("expires_at", "bigint")
      .addColumn("last_used_at", "bigint", (column) => column.notNull())
      .addColumn("created_at", "bigint", (column) => column.notNull())
      .execute();
    await schema.createIndex("account_session_user_id").on("account_session").column("user_id").execute();
  },
};
