import { type Kysely, sql } from "kysely";
import type { Migration } from "kysely/migration";

const columns = ["content", "output", "sources"];

/**
 * Large texts are read far more often than they are written: they are packed with the quick method where the database
 * has it, and not at all where it does not, which takes twice the room and a third of the time. What is stored already
 * stays as it is until it is written again.
 */
export const createQuickTexts: Migration = {
  async up(db) {
    const alter = (how: string) =>
      `alter table chat_message ${columns.map((column) => `alter column ${column} set ${how}`).join(", ")}`;
    await sql`do $do$ begin
      execute ${sql.lit(alter("compression lz4"))};
    exception when feature_not_supported or syntax_error then
      execute ${sql.lit(alter("storage external"))};
    end $do$`.execute(db as Kysely<unknown>);
  },
};
