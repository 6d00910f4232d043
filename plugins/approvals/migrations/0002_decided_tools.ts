import { sql } from "kysely";
import type { Migration } from "kysely/migration";

/** What people saw of the tools that they decided about, so that they can be told what has changed. */
export const describeDecidedTools: Migration = {
  async up(db) {
    await sql`alter table tool_approval
      add column title text, add column server text, add column description text`.execute(db);
  },
};
