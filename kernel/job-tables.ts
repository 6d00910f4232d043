import { createRequire } from "node:module";
import { PgBoss } from "pg-boss";
import type { CoreConfig } from "#config/core.ts";
import type { Database } from "#storage/database.ts";
import type { LibraryTables } from "#storage/migrate.ts";

/** Two installations in one database keep their queues apart like their tables. */
export function jobSchema({ databaseSchema }: Pick<CoreConfig, "databaseSchema">): string {
  return databaseSchema === "public" ? "jobs" : `${databaseSchema}_jobs`;
}

/** The tables of the job queue, which its library makes and alters by itself when it starts. */
export function jobTables(database: Database, schema: string): LibraryTables {
  const open = () =>
    new PgBoss({
      db: { executeSql: (text: string, values?: unknown[]) => database.query(text, values) },
      schema,
      schedule: false,
      supervise: false,
    });
  return {
    owner: "jobs",
    needs: jobTablesVersion,
    async has() {
      const boss = open();
      return (await boss.isInstalled()) ? await boss.schemaVersion() : null;
    },
    async make() {
      const boss = open();
      await boss.start();
      await boss.stop({ graceful: false, close: false });
    },
  };
}

const manifest = createRequire(import.meta.url)("pg-boss/package.json") as { pgboss: { schema: number } };
/** The library's number of the tables that it needs. */
export const jobTablesVersion = manifest.pgboss.schema;
