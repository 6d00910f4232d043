import { type Kysely, sql } from "kysely";
import type { Migration } from "kysely/migration";

/** Of a temporary chat no message is stored that could have one writer: its runs keep each other away. */
export const claimTemporaryMessages: Migration = {
  async up(db) {
    const all = db as Kysely<unknown>;
    await sql`delete from chat_run as a using chat_run as b
      where a.chat_id like 'temporary:%' and a.id > b.id
        and (a.user_id, a.chat_id, a.message_id) = (b.user_id, b.chat_id, b.message_id)`.execute(all);
    await sql`create unique index chat_run_temporary on chat_run (user_id, chat_id, message_id)
      where chat_id like 'temporary:%'`.execute(all);
  },
};
