import { sql } from "kysely";
import { AppError } from "#kernel/errors.ts";
import { seconds } from "#storage/clock.ts";
import { toJson } from "#storage/values.ts";
import { requireRow } from "../require-row.ts";
import type { KeptValves } from "../service.ts";
import type { AccountsDatabase } from "../tables.ts";
import { findKept, keptLimits, takesAtMost } from "../users/users-directory.ts";

/** Keeps each account's own valves inside its settings, one statement a change, so that no two undo each other. */
export function createKeptValves(db: AccountsDatabase): KeptValves {
  return {
    async read(userId, section) {
      const row = await db
        .selectFrom("user")
        .select(sql<unknown>`settings -> ${section}::text -> 'valves'`.as("valves"))
        .where("id", "=", userId)
        .executeTakeFirst();
      return (row?.valves ?? {}) as Readonly<Record<string, unknown>>;
    },
    async write(userId, { section, id }, value) {
      const own = sql`coalesce(settings -> ${section}::text, '{}'::jsonb)`;
      const valves = sql`(coalesce(${own} -> 'valves', '{}'::jsonb) || jsonb_build_object(${id}::text, ${toJson(value)}))`;
      const changed = sql`${own} || jsonb_build_object('valves', ${valves})`;
      const row = await db
        .updateTable("user")
        .set({
          settings: sql`coalesce(settings, '{}'::jsonb) || jsonb_build_object(${section}::text, ${changed})`,
          updated_at: seconds(),
        })
        .where("id", "=", userId)
        .where(takesAtMost(valves, keptLimits.valves, sql`${own} -> 'valves'`))
        .returning("id")
        .executeTakeFirst();
      if (row === undefined) {
        requireRow(await findKept(db, userId, "info"));
        throw new AppError(
          "too_large",
          `The own settings of ${section} may take at most ${keptLimits.valves} bytes.`,
        );
      }
    },
    async owners(section) {
      const rows = await db
        .selectFrom("user")
        .select("id")
        .where(sql<boolean>`settings -> ${section}::text -> 'valves' is not null`)
        .execute();
      return rows.map(({ id }) => id);
    },
    async drop(section, id) {
      const path = sql`array[${section}::text, 'valves', ${id}::text]`;
      await db
        .updateTable("user")
        .set({ settings: sql`settings #- ${path}` })
        .where(sql<boolean>`settings #> ${path} is not null`)
        .execute();
    },
  };
}
