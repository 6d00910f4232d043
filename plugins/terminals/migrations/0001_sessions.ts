import { sql } from "kysely";
import type { Migration } from "kysely/migration";

/** The owners of sessions: whoever knows the id of another person's session may not attach to it. */
export const createTerminalSessions: Migration = {
  async up(db) {
    await sql`create table terminal_session (
      terminal_id text not null,
      session_id text not null,
      user_id text not null references "user" (id) on delete cascade,
      chat_id text not null,
      created_at bigint not null,
      primary key (terminal_id, session_id)
    )`.execute(db);
    await sql`create index terminal_session_age on terminal_session (created_at)`.execute(db);
    await sql`create index terminal_session_user on terminal_session (user_id)`.execute(db);
  },
};
