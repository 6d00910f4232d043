import type { Migration } from "kysely/migration";

/** What administrators agreed to, what waits for them, and the samples that run at each save. */
export const approvalsAndSamples: Migration = {
  async up(db) {
    await db.schema.alterTable("function").addColumn("approved", "jsonb").execute();
    await db.schema.alterTable("function").addColumn("pending", "jsonb").execute();
    await db.schema
      .createTable("function_sample")
      .addColumn("id", "text", (column) => column.primaryKey())
      .addColumn("function_id", "text", (column) =>
        column.notNull().references("function.id").onDelete("cascade"),
      )
      .addColumn("name", "text", (column) => column.notNull())
      .addColumn("call", "jsonb", (column) => column.notNull())
      .addColumn("expected", "jsonb", (column) => column.notNull())
      .addColumn("user_id", "text", (column) => column.notNull())
      .addColumn("created_at", "bigint", (column) => column.notNull())
      .execute();
    await db.schema
      .createIndex("function_sample_function_id")
      .on("function_sample")
      .column("function_id")
      .execute();
  },
};
