import { sql } from "kysely";
import type { Migration } from "kysely/migration";

/** Descriptions and revisions of decided tools, so that people can be told what has changed. */
export const describeDecidedTools: Migration = {
  async up(db) {
    await sql`alter table tool_approval
      add column title text, add column server text, add column description text`.execute(db);
  },
};
