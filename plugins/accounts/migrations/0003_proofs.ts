import type { Kysely } from "kysely";
import type { Migration } from "kysely/migration";

/** When the person behind a session last proved who they are, and with a second factor. */
export const migration: Migration = {
  async up({ schema }: Kysely<unknown>) {
    await schema.alterTable("account_session").addColumn("proved_at", "bigint").execute();
    await schema.alterTable("account_session").addColumn("factor_at", "bigint").execute();
  },
};
