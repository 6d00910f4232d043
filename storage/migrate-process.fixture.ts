// Another process for tests: node migrate-process.fixture.ts <dataDir> <url or ""> <plain|stuck>. Migrates, tells, ends.
import { sql } from "kysely";
import type { Migration } from "kysely/migration";
import { openDatabase } from "./database.ts";
import { migrate } from "./migrate.ts";

const [dataDir = "", url = "", mode] = process.argv.slice(2);
const tell = (message: string) => new Promise((resolve) => process.send?.(message, resolve));
process.on("disconnect", () => process.exit(1));

const migrations: Record<string, Migration> = {
  "0001_first": {
    async up(db) {
      await sql`create table first (id int)`.execute(db);
    },
  },
  "0002_slow": {
    async up(db) {
      await sql`create table slow (id int)`.execute(db);
      await sql`insert into slow values (1)`.execute(db);
      if (mode === "stuck") {
        await tell("in the step");
        await new Promise((resolve) => setTimeout(resolve, 60_000));
      }
      await sql`select pg_sleep(0.2)`.execute(db);
    },
  },
};

const steps: string[] = [];
try {
  const database = await openDatabase({ url, dataDir, pool: { size: 3 } });
  await migrate(database, [{ owner: "sample", migrations }], { log: (message) => steps.push(message) });
  await database.close();
  await tell(JSON.stringify(steps));
} catch (error) {
  await tell(`failed: ${(error as Error).message}`);
}
process.exit(0);
