import { type Kysely, sql } from "kysely";
import type { Migration } from "kysely/migration";

/** That a run shall stop is kept with it: announcements can be lost, and come before the run has begun. */
export const addRunStops: Migration = {
  async up(db) {
    await sql`alter table chat_run add column stop_reason text`.execute(db as Kysely<unknown>);
  },
};
