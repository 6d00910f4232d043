import { sql } from "kysely";
import { z } from "zod";
import { defineRoute } from "#kernel/http/route.ts";
import { definePlugin } from "#kernel/plugin.ts";

/** Tells how often rows of a table were written since the database was made. */
export default definePlugin({
  id: "row-writes",
  title: "Bench: rows written",
  setup({ db }) {
    const route = defineRoute(
      {
        method: "GET",
        path: "/bench/row-writes",
        summary: "Rows of a table that were written",
        access: "admin",
        query: z.object({ table: z.string() }),
      },
      async ({ query }) => {
        // The server reports counts with the transaction after the next.
        await sql`select pg_stat_force_next_flush()`.execute(db);
        await sql`select 1`.execute(db);
        const { rows } = await sql<{ writes: number }>`
          select (n_tup_ins + n_tup_upd + n_tup_del)::int as writes from pg_stat_user_tables
          where relname = ${query.table}`.execute(db);
        return { writes: rows[0]?.writes ?? 0 };
      },
    );
    return { routes: { api: [route] } };
  },
});
