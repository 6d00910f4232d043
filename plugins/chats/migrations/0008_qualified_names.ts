import type { Kysely } from "kysely";
import type { Migration } from "kysely/migration";
import { qualifyNames } from "#storage/qualify.ts";

/** Generated columns call these functions, also while a dump is restored. */
export const qualifyChatFunctions: Migration = {
  async up(db) {
    const all = db as Kysely<unknown>;
    await qualifyNames(all, { name: "chat_vector", calls: ["chat_words"] });
    await qualifyNames(all, { name: "chat_message_wire", calls: ["json_members"] });
  },
};
