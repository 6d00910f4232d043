import { toMigrationSets } from "#kernel/release.ts";
import { jobTables } from "#kernel/job-tables.ts";
import { orderPlugins } from "#kernel/order.ts";
import { kernelServiceIds } from "#kernel/parts.ts";
import type { AnyPlugin } from "#kernel/plugin.ts";
import { catalogue } from "#plugins/catalogue.ts";
import type { Database } from "#storage/database.ts";
import { prepareTestDataDir, type TestDataDir } from "#storage/testing.ts";

/** A data folder whose database has all tables of the platform with these plugins; nothing is left to migrate. */
export function preparePlatformDataDir(
  plugins: readonly AnyPlugin[] = catalogue,
  kind?: Database["kind"],
): Promise<TestDataDir> {
  const sets = toMigrationSets(orderPlugins(plugins, kernelServiceIds));
  return prepareTestDataDir({ sets, libraries: (database) => [jobTables(database, "jobs")] }, kind);
}
