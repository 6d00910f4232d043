import { type Kysely, sql } from "kysely";
import type { Migration } from "kysely/migration";

/** Code apps, recovery codes, passkeys and the steps that wait. */
export const createMfa: Migration = {
  async up({ schema }: Kysely<unknown>) {
    await schema
      .createTable("mfa_account")
      .addColumn("user_id", "text", (column) => column.primaryKey().references("user.id").onDelete("cascade"))
      .addColumn("secret", "text")
      .addColumn("last_step", "bigint")
      .addColumn("enrolled_at", "bigint")
      .addColumn("handle", "text", (column) => column.notNull().unique())
      .addColumn("tries", sql`bigint[]`, (column) => column.notNull().defaultTo(sql`'{}'::bigint[]`))
      .addColumn("reset_hash", "text")
      .addColumn("reset_expires_at", "bigint")
      .addColumn("created_at", "bigint", (column) => column.notNull())
      .execute();
    await schema
      .createTable("mfa_recovery_code")
      .addColumn("user_id", "text", (column) =>
        column.notNull().references("mfa_account.user_id").onDelete("cascade"),
      )
      .addColumn("hash", "text", (column) => column.notNull())
      .addColumn("used_at", "bigint")
      .addPrimaryKeyConstraint("mfa_recovery_code_key", ["user_id", "hash"])
      .execute();
    await schema
      .createTable("mfa_passkey")
      .addColumn("id", "text", (column) => column.primaryKey())
      .addColumn("user_id", "text", (column) =>
        column.notNull().references("mfa_account.user_id").onDelete("cascade"),
      )
      .addColumn("name", "text", (column) => column.notNull())
      .addColumn("public_key", "text", (column) => column.notNull())
      .addColumn("counter", "bigint", (column) => column.notNull())
      .addColumn("transports", "jsonb", (column) => column.notNull())
      .addColumn("rp_id", "text", (column) => column.notNull())
      .addColumn("is_synced", "boolean", (column) => column.notNull())
      .addColumn("created_at", "bigint", (column) => column.notNull())
      .addColumn("last_used_at", "bigint")
      .execute();
    await schema.createIndex("mfa_passkey_user_id").on("mfa_passkey").column("user_id").execute();
    await schema
      .createTable("mfa_challenge")
      .addColumn("id", "text", (column) => column.primaryKey())
      .addColumn("user_id", "text", (column) => column.references("user.id").onDelete("cascade"))
      .addColumn("step", "text", (column) => column.notNull())
      .addColumn("method", "text", (column) => column.notNull())
      .addColumn("stamp", "text")
      .addColumn("secret", "text")
      .addColumn("nonce", "text")
      .addColumn("tries", "integer", (column) => column.notNull().defaultTo(0))
      .addColumn("expires_at", "bigint", (column) => column.notNull())
      .execute();
  },
};
