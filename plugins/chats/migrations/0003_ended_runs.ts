import { type Kysely, sql } from "kysely";
import type { Migration } from "kysely/migration";

/** Which run ended a message: whoever does not hear that its last words were stored can look. */
export const createEndedRuns: Migration = {
  async up(db) {
    await sql`alter table chat_message add column ended_by text`.execute(db as Kysely<unknown>);
  },
};
