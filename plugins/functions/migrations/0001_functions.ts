import { sql } from "kysely";
import type { Migration } from "kysely/migration";

/** Functions, the versions of their code, and what they store. */
export const createFunctions: Migration = {
  async up(db) {
    await db.schema
      .createTable("function")
      .addColumn("id", "text", (column) => column.primaryKey())
      .addColumn("user_id", "text", (column) => column.notNull())
      .addColumn("name", "text", (column) => column.notNull())
      .addColumn("type", "text", (column) =>
        column.notNull().check(sql`type in ('pipe', 'filter', 'action', 'event')`),
      )
      .addColumn("content", "text", (column) => column.notNull())
      .addColumn("meta", "jsonb", (column) => column.notNull().defaultTo("{}"))
      .addColumn("valves", "jsonb", (column) => column.notNull().defaultTo("{}"))
      .addColumn("is_active", "boolean", (column) => column.notNull().defaultTo(false))
      .addColumn("is_global", "boolean", (column) => column.notNull().defaultTo(false))
      .addColumn("version", "integer", (column) => column.notNull().defaultTo(1))
      .addColumn("error", "text")
      .addColumn("created_at", "bigint", (column) => column.notNull())
      .addColumn("updated_at", "bigint", (column) => column.notNull())
      .execute();
    await db.schema
      .createTable("function_version")
      .addColumn("function_id", "text", (column) =>
        column.notNull().references("function.id").onDelete("cascade"),
      )
      .addColumn("version", "integer", (column) => column.notNull())
      .addColumn("content", "text", (column) => column.notNull())
      .addColumn("user_id", "text", (column) => column.notNull())
      .addColumn("created_at", "bigint", (column) => column.notNull())
      .addPrimaryKeyConstraint("function_version_key", ["function_id", "version"])
      .execute();
    await db.schema
      .createTable("function_storage")
      .addColumn("function_id", "text", (column) =>
        column.notNull().references("function.id").onDelete("cascade"),
      )
      .addColumn("user_id", "text", (column) => column.notNull())
      .addColumn("key", "text", (column) => column.notNull())
      .addColumn("value", "jsonb", (column) => column.notNull())
      .addColumn("size", "integer", (column) => column.notNull())
      .addColumn("updated_at", "bigint", (column) => column.notNull())
      .addPrimaryKeyConstraint("function_storage_key", ["function_id", "user_id", "key"])
      .execute();
    await db.schema
      .createIndex("function_storage_user_id")
      .on("function_storage")
      .column("user_id")
      .execute();
  },
};
