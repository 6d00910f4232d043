import { type Kysely, sql } from "kysely";
import type { Migration } from "kysely/migration";

/** Finds accounts by any address that a provider gave them, whatever its case. */
export const indexEmails: Migration = {
  async up(db: Kysely<unknown>) {
    await sql`create index user_scim_emails on "user"
      using gin ((lower((scim -> 'emails')::text)::jsonb) jsonb_path_ops)`.execute(db);
  },
};
