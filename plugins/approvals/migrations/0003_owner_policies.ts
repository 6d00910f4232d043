import { sql } from "kysely";
import type { Migration } from "kysely/migration";

/** What people chose for runs where nobody can be asked. */
export const createOwnerPolicyTable: Migration = {
  async up(db) {
    await sql`create table tool_approval_owner (
      user_id text primary key references "user" (id) on delete cascade,
      unattended text not null
    )`.execute(db);
  },
};
