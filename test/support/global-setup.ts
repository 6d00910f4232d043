import { randomBytes } from "node:crypto";
import { dropTestDatabases } from "#storage/testing.ts";
import { createRunFolder } from "./leaks/run-folder.ts";
import { startPostgres } from "./postgres.ts";

/**
 * Gives a run a temporary folder of its own and one Postgres: the server of TEST_DATABASE_URL, or one of its own. Workers
 * inherit the environment.
 */
export async function setup(): Promise<() => Promise<void>> {
  process.env["TEST_RUN_ID"] = randomBytes(4).toString("hex");
  createRunFolder();
  if (process.env["TEST_DATABASE_URL"]) {
    return dropTestDatabases;
  }
  const server = await startPostgres();
  process.env["TEST_DATABASE_URL"] = server.url;
  return server.stop;
}
