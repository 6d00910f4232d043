import { sql, type Kysely } from "kysely";
import type { Migration } from "kysely/migration";

/** Ledger name of the platform's own tables. */
export const CORE_OWNER = "core";

/** Migrations of the tables in core-tables.ts; they run before every plugin's. */
export const coreMigrations: Readonly<Record<string, Migration>> = {
  "0001_core": {
    async up(db) {
      await createUsers(db);
      await createGroups(db);
      await createGrants(db);
      await createSettings(db);
    },
  },
  "0002_config_version": {
    async up(db) {
      await sql`create sequence config_version`.execute(db);
      await sql`alter table config add column version bigint not null default nextval('config_version')`.execute(
        db,
      );
    },
  },
  "0003_bots": {
    async up(db) {
      await sql`alter table "user" add column is_bot boolean not null default false`.execute(db);
    },
  },
};

// oxlint-disable typescript/no-explicit-any -- a migration sees the tables as they were, not as the types say now

async function createUsers(db: Kysely<any>): Promise<void> {
  await db.schema
    .createTable("user")
    .addColumn("id", "text", (column) => column.primaryKey())
    .addColumn("email", "text", (column) => column.notNull())
    .addColumn("username", "text")
    .addColumn("role", "text", (column) => column.notNull())
    .addColumn("name", "text", (column) => column.notNull())
    .addColumn("profile_image_url", "text")
    .addColumn("profile_banner_image_url", "text")
    .addColumn("bio", "text")
    .addColumn("gender", "text")
    .addColumn("date_of_birth", "text")
    .addColumn("timezone", "text")
    .addColumn("presence_state", "text")
    .addColumn("status_emoji", "text")
    .addColumn("status_message", "text")
    .addColumn("status_expires_at", "bigint")
    .addColumn("info", "jsonb")
    .addColumn("settings", "jsonb")
    .addColumn("variables", "jsonb")
    .addColumn("oauth", "jsonb")
    .addColumn("scim", "jsonb")
    .addColumn("session_stamp", "text", (column) => column.notNull().defaultTo(sql`gen_random_uuid()::text`))
    .addColumn("last_active_at", "bigint", (column) => column.notNull())
    .addColumn("updated_at", "bigint", (column) => column.notNull())
    .addColumn("created_at", "bigint", (column) => column.notNull())
    .addUniqueConstraint("user_email_unique", ["email"])
    .addCheckConstraint("user_email_lower", sql`email = lower(email)`)
    .addCheckConstraint("user_role_known", sql`role in ('admin', 'user', 'pending')`)
    .execute();
  await db.schema.createIndex("user_created_at").on("user").columns(["created_at", "id"]).execute();
  await db.schema.createIndex("user_last_active_at").on("user").column("last_active_at").execute();
}

async function createGroups(db: Kysely<any>): Promise<void> {
  await db.schema
    .createTable("group")
    .addColumn("id", "text", (column) => column.primaryKey())
    // Who made it; the group outlives that account.
    .addColumn("user_id", "text")
    .addColumn("name", "text", (column) => column.notNull())
    .addColumn("description", "text", (column) => column.notNull().defaultTo(""))
    .addColumn("data", "jsonb")
    .addColumn("meta", "jsonb")
    .addColumn("permissions", "jsonb")
    .addColumn("created_at", "bigint", (column) => column.notNull())
    .addColumn("updated_at", "bigint", (column) => column.notNull())
    .execute();
  await db.schema
    .createTable("group_member")
    .addColumn("group_id", "text", (column) => column.notNull().references("group.id").onDelete("cascade"))
    .addColumn("user_id", "text", (column) => column.notNull().references("user.id").onDelete("cascade"))
    .addColumn("created_at", "bigint", (column) => column.notNull())
    .addPrimaryKeyConstraint("group_member_key", ["group_id", "user_id"])
    .execute();
  await db.schema.createIndex("group_member_user").on("group_member").column("user_id").execute();
}

async function createGrants(db: Kysely<any>): Promise<void> {
  await db.schema
    .createTable("access_grant")
    .addColumn("id", "bigint", (column) => column.primaryKey().generatedAlwaysAsIdentity())
    .addColumn("resource_type", "text", (column) => column.notNull())
    .addColumn("resource_id", "text", (column) => column.notNull())
    .addColumn("principal_type", "text", (column) => column.notNull())
    .addColumn("principal_id", "text", (column) => column.notNull())
    .addColumn("permission", "text", (column) => column.notNull())
    .addColumn("created_at", "bigint")
    // The resource comes first, so that the same index serves the lists of one resource.
    .addUniqueConstraint("access_grant_unique", [
      "resource_type",
      "resource_id",
      "principal_type",
      "principal_id",
      "permission",
    ])
    .addCheckConstraint("access_grant_permission", sql`permission in ('read', 'write')`)
    .addCheckConstraint("access_grant_principal", sql`principal_type in ('user', 'group', 'anyone')`)
    // Only a group of that id can be meant; the star is for users and for anyone.
    .addCheckConstraint("access_grant_group", sql`principal_type <> 'group' or principal_id <> '*'`)
    // Configuration and records, access grant rule 4: the grant without sign-in has one form.
    .addCheckConstraint(
      "access_grant_anyone",
      sql`principal_type <> 'anyone' or (principal_id = '*' and permission = 'read' and resource_type = 'shared_chat')`,
    )
    .execute();
  await db.schema
    .createIndex("access_grant_principal_type")
    .on("access_grant")
    .columns(["principal_type", "principal_id", "resource_type"])
    .execute();
}

async function createSettings(db: Kysely<any>): Promise<void> {
  await db.schema
    .createTable("config")
    .addColumn("key", "text", (column) => column.primaryKey())
    .addColumn("value", "jsonb", (column) => column.notNull())
    .addColumn("updated_at", "bigint", (column) => column.notNull())
    .addColumn("updated_by", "text")
    .execute();
  await db.schema
    .createTable("revoked_token")
    .addColumn("jti", "text", (column) => column.primaryKey())
    .addColumn("expires_at", "bigint", (column) => column.notNull())
    .execute();
  await db.schema.createIndex("revoked_token_expires_at").on("revoked_token").column("expires_at").execute();
  await db.schema
    .createTable("secret")
    .addColumn("name", "text", (column) => column.primaryKey())
    .addColumn("value", "text", (column) => column.notNull())
    .execute();
}
