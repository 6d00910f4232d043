import { type Kysely, sql } from "kysely";
import type { Migration } from "kysely/migration";

/** Sign-in records, keys and the counts of sign-in tries. */
export const migration: Migration = {
  async up({ schema }: Kysely<unknown>) {
    await schema
      .createTable("auth")
      .addColumn("id", "text", (column) => column.primaryKey().references("user.id").onDelete("cascade"))
      .addColumn("email", "text", (column) => column.notNull().unique())
      .addColumn("password", "text", (column) => column.notNull())
      .addColumn("active", "boolean", (column) => column.notNull().defaultTo(true))
      .execute();
    await schema
      .createTable("api_key")
      .addColumn("id", "text", (column) => column.primaryKey())
      .addColumn("user_id", "text", (column) =>
        column.notNull().unique().references("user.id").onDelete("cascade"),
      )
      .addColumn("key", "text", (column) => column.notNull().unique())
      .addColumn("hint", "text", (column) => column.notNull())
      .addColumn("data", "jsonb")
      .addColumn("expires_at", "bigint")
      .addColumn("last_used_at", "bigint")
      .addColumn("created_at", "bigint", (column) => column.notNull())
      .addColumn("updated_at", "bigint", (column) => column.notNull())
      .execute();
    await schema
      .createTable("sign_in_throttle")
      .addColumn("subject", "text", (column) => column.primaryKey())
      .addColumn("tries", sql`bigint[]`, (column) => column.notNull())
      .addColumn("allowed", "boolean", (column) => column.notNull())
      .addColumn("updated_at", "bigint", (column) => column.notNull())
      .execute();
  },
};
