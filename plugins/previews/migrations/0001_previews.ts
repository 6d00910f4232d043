import { sql } from "kysely";
import type { Migration } from "kysely/migration";

/** Documents for frames. Bytes, because a text column refuses NUL. */
export const createPreviewTable: Migration = {
  async up(db) {
    await sql`create table preview (
      id text primary key,
      user_id text not null references "user" (id) on delete cascade,
      kind text not null,
      content bytea not null,
      expires_at bigint not null
    )`.execute(db);
    await sql`create index preview_user on preview (user_id, expires_at)`.execute(db);
    await sql`create index preview_expiry on preview (expires_at)`.execute(db);
  },
};
