import { sql } from "kysely";
import type { Migration } from "kysely/migration";

/** Items of answers that every replica finds. They live for an hour, so a crash of the database may cost them. */
export const createItems: Migration = {
  async up(db) {
    await sql`create unlogged table response_item (
      id text primary key,
      user_id text not null references "user" (id) on delete cascade,
      item text not null,
      size integer not null,
      created_at bigint not null
    )`.execute(db);
    await sql`create index response_item_user on response_item (user_id, created_at desc)`.execute(db);
    await sql`create index response_item_age on response_item (created_at)`.execute(db);
  },
};
