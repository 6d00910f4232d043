import { type Kysely, sql } from "kysely";
import type { Migration } from "kysely/migration";

/** Stored files and the state of their processing. */
export const migration: Migration = {
  async up(db: Kysely<never>) {
    const { schema } = db as unknown as Kysely<unknown>;
    await schema
      .createTable("file")
      .addColumn("id", "text", (column) => column.primaryKey())
      .addColumn("user_id", "text", (column) => column.notNull())
      .addColumn("hash", "text")
      .addColumn("filename", "text", (column) => column.notNull())
      .addColumn("path", "text", (column) => column.unique())
      .addColumn("status", "text", (column) =>
        column.notNull().check(sql`status in ('pending', 'completed', 'failed')`),
      )
      .addColumn("error", "text")
      .addColumn("content", "text")
      .addColumn("edited", "boolean", (column) => column.notNull().defaultTo(false))
      .addColumn("data", "jsonb", (column) => column.notNull().defaultTo(sql`'{}'::jsonb`))
      .addColumn("meta", "jsonb", (column) => column.notNull().defaultTo(sql`'{}'::jsonb`))
      .addColumn("revision", "integer", (column) => column.notNull().defaultTo(0))
      .addColumn("attempts", "integer", (column) => column.notNull().defaultTo(0))
      .addColumn("queued_at", "bigint", (column) => column.notNull())
      .addColumn("started_at", "bigint")
      .addColumn("lease_until", "bigint")
      .addColumn("created_at", "bigint", (column) => column.notNull())
      .addColumn("updated_at", "bigint", (column) => column.notNull())
      .execute();
    // Serves both the owner's list, newest first, and the removal of an account's files.
    await schema
      .createIndex("file_user_id_created_at")
      .on("file")
      .columns(["user_id", "created_at desc", "id desc"])
      .execute();
    await schema.createIndex("file_created_at").on("file").columns(["created_at desc", "id desc"]).execute();
    await schema
      .createIndex("file_pending")
      .on("file")
      .column("queued_at")
      .where(sql.ref("status"), "=", sql.lit("pending"))
      .execute();
  },
};
