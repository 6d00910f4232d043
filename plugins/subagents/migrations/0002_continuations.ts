import { sql } from "kysely";
import type { Migration } from "kysely/migration";

/** Chats that a process puts a message of the system into at this moment. */
export const createContinuations: Migration = {
  async up(db) {
    await sql`create table chat_continuation (
      chat_id text primary key,
      owner text not null,
      until timestamptz not null
    )`.execute(db);
  },
};
