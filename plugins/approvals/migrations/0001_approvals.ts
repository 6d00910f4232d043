import { sql } from "kysely";
import type { Migration } from "kysely/migration";

/** Decisions of people for all calls of a tool. */
export const createApprovals: Migration = {
  async up(db) {
    await sql`create table tool_approval (
      id text primary key,
      user_id text not null references "user" (id) on delete cascade,
      tool_id text not null,
      name text not null,
      fingerprint text not null,
      decision text not null,
      created_at bigint not null,
      unique (user_id, tool_id, name)
    )`.execute(db);
  },
};
