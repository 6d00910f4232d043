import { sql } from "kysely";
import type { Migration } from "kysely/migration";

/** Finds the automations that ran at a time that lies ahead, after a clock was set back. */
export const indexLastRuns: Migration = {
  async up(db) {
    await sql`create index automation_last_run on automation (last_run_at) where is_active`.execute(db);
  },
};
