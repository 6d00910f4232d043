import { readFileSync } from "node:fs";
import { coreMigrations } from "#storage/core-migrations.ts";
import { idempotencyMigrations } from "#storage/idempotency-store.ts";
import { noticeMigrations } from "#storage/large-notices.ts";
import type { MigrationSet } from "#storage/migrate.ts";
import type { AnyPlugin } from "./plugin.ts";

/** The version of this program. */
export const version: string = (
  JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as { version: string }
).version;

/** The migrations of the kernel and of `plugins`, in the order in which they run. */
export function toMigrationSets(plugins: readonly AnyPlugin[]): MigrationSet[] {
  const own = [
    { owner: "core", migrations: coreMigrations },
    { owner: "idempotency", migrations: idempotencyMigrations },
    { owner: "notices", migrations: noticeMigrations },
  ];
  return [...own, ...plugins.map(({ id, migrations }) => ({ owner: id, migrations: migrations ?? {} }))];
}
