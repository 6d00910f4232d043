import { sql } from "kysely";
import type { Migration } from "kysely/migration";

/** The request that led to pictures; it goes with their files. */
export const createMadePictures: Migration = {
  async up(db) {
    await sql`create table made_picture (
      file_id text primary key references file (id) on delete cascade,
      user_id text not null references "user" (id) on delete cascade,
      kind text not null,
      prompt text not null,
      engine text not null,
      model text not null,
      size text not null,
      created_at bigint not null,
      sequence bigint generated always as identity
    )`.execute(db);
    await sql`create index made_picture_owner on made_picture (user_id, sequence desc)`.execute(db);
  },
};
