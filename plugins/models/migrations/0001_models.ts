import type { Migration } from "kysely/migration";

export const migration: Migration = {
  async up(db) {
    await db.schema
      .createTable("model")
      .addColumn("id", "text", (column) => column.primaryKey())
      .addColumn("user_id", "text", (column) => column.notNull())
      .addColumn("base_model_id", "text")
      .addColumn("name", "text", (column) => column.notNull())
      .addColumn("model", "text")
      .addColumn("params", "jsonb", (column) => column.notNull().defaultTo("{}"))
      .addColumn("meta", "jsonb", (column) => column.notNull().defaultTo("{}"))
      .addColumn("is_active", "boolean", (column) => column.notNull().defaultTo(true))
      .addColumn("created_at", "bigint", (column) => column.notNull())
      .addColumn("updated_at", "bigint", (column) => column.notNull())
      .execute();
    await db.schema.createIndex("model_user_id").on("model").column("user_id").execute();
    await db.schema
      .createTable("model_seed")
      .addColumn("id", "text", (column) => column.primaryKey())
      .addColumn("created_at", "bigint", (column) => column.notNull())
      .execute();
  },
};
