import { sql } from "kysely";
import type { Migration } from "kysely/migration";

/** The platform's own words of a notification by kind and values, so that each reader has them in their language. */
export const addPhrases: Migration = {
  async up(db) {
    await sql`alter table notification add column phrase jsonb`.execute(db);
  },
};
