import { type Kysely, sql } from "kysely";
import type { Migration } from "kysely/migration";

/** The log of calls, and what finds accounts and groups by the provider's own ids. */
export const createScim: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema
      .createTable("scim_call")
      .addColumn("id", "bigint", (column) => column.primaryKey().generatedAlwaysAsIdentity())
      .addColumn("created_at", "bigint", (column) => column.notNull())
      .addColumn("method", "text", (column) => column.notNull())
      .addColumn("path", "text", (column) => column.notNull())
      .addColumn("status", "integer", (column) => column.notNull())
      .addColumn("reason", "text")
      .addColumn("detail", "text")
      .addColumn("duration_ms", "integer", (column) => column.notNull())
      .addColumn("address", "text", (column) => column.notNull())
      .addColumn("client", "text")
      .execute();
    await sql`create index user_scim_external_id on "user" ((scim ->> 'external_id'))`.execute(db);
    await sql`create index group_scim_external_id on "group" ((meta #>> '{scim,external_id}'))`.execute(db);
    await sql`create index user_email_prefix on "user" (email text_pattern_ops)`.execute(db);
    await sql`create index group_name on "group" (lower(name))`.execute(db);
  },
};
