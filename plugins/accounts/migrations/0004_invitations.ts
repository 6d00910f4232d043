import type { Kysely } from "kysely";
import type { Migration } from "kysely/migration";

/** Links by which people choose their password, passwords that others know, and imports of many accounts. */
export const migration: Migration = {
  async up({ schema }: Kysely<unknown>) {
    await schema
      .createTable("account_invitation")
      .addColumn("user_id", "text", (column) => column.primaryKey().references("user.id").onDelete("cascade"))
      .addColumn("hash", "text", (column) => column.notNull().unique())
      .addColumn("expires_at", "bigint", (column) => column.notNull())
      .execute();
    await schema
      .alterTable("auth")
      .addColumn("must_change", "boolean", (column) => column.notNull().defaultTo(false))
      .execute();
    await schema
      .createTable("account_import")
      .addColumn("id", "text", (column) => column.primaryKey())
      .addColumn("user_id", "text", (column) => column.notNull().references("user.id").onDelete("cascade"))
      .addColumn("total", "integer", (column) => column.notNull())
      .addColumn("done", "integer", (column) => column.notNull())
      .addColumn("added", "integer", (column) => column.notNull())
      .addColumn("state", "text", (column) => column.notNull())
      .addColumn("results", "jsonb")
      .addColumn("updated_at", "bigint", (column) => column.notNull())
      .execute();
  },
};
