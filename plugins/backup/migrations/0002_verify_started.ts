import type { Kysely } from "kysely";
import type { Migration } from "kysely/migration";

export const noteRunningChecks: Migration = {
  async up({ schema }: Kysely<unknown>) {
    await schema.alterTable("backup").addColumn("verify_started_at", "bigint").execute();
  },
};
