import { describe, expect, test } from "vitest";
import { catalogue } from "#plugins/catalogue.ts";
import { migrate } from "#storage/migrate.ts";
import { openTestDatabase, prepareTestDataDir } from "#storage/testing.ts";
import { callServer } from "#test/support/app.ts";
import { boot } from "#kernel/boot.ts";
import { toMigrationSets } from "#kernel/release.ts";
import { orderPlugins } from "#kernel/order.ts";
import { kernelServiceIds } from "#kernel/parts.ts";
import { jobSchema, jobTables } from "#kernel/job-tables.ts";

describe("the tables of the job queue", () => {
  test("are made with the migrations, once, and refused when they are beyond the library", async () => {
    const database = await openTestDatabase();
    try {
      const tables = jobTables(database, jobSchema({ databaseSchema: "public" }));
      expect(await tables.has()).toBeNull();
      const told: string[] = [];
      const bring = () => migrate(database, [], { libraries: [tables], log: (line) => told.push(line) });
      await bring();
      expect(await tables.has()).toBe(tables.needs);
      await bring();
      expect(told).toEqual([`Migrating jobs ${tables.needs}`]);
      await database.query("update jobs.version set version = version + 1");
      await expect(bring()).rejects.toThrow(`newer than this version: it has jobs ${tables.needs + 1}`);
    } finally {
      await database.close();
    }
  });

  test("are not made by a process that must not migrate, which serves once another one made them", async () => {
    const place = await prepareTestDataDir({
      sets: toMigrationSets(orderPlugins(catalogue, kernelServiceIds)),
    });
    const start = (enabled: string) =>
      boot({
        catalogue,
        port: 0,
        environment: { ...place.env, GLOBAL_LOG_LEVEL: "CRITICAL", ENABLE_DB_MIGRATIONS: enabled },
      });
    try {
      await expect(start("false")).rejects.toThrow(
        /lacks 1 migration steps \(jobs \d+\), and migrations are switched off/,
      );
      await (await start("true")).stop();
      const running = await start("false");
      expect((await callServer(running.url, "GET /ready")).status).toBe(200);
      await running.stop();
    } finally {
      await place.remove();
    }
  });
});
