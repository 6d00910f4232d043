import type { Kysely } from "kysely";
import type { Migration } from "kysely/migration";
import { qualifyNames } from "#storage/qualify.ts";

/** A trigger calls this function, whatever the search_path of the deleting session is. */
export const qualifyUsageFunctions: Migration = {
  async up(db) {
    await qualifyNames(db as Kysely<unknown>, { name: "usage_forget_user", calls: ["usage_batch"] });
  },
};
