import { afterAll, beforeAll, expect, test } from "vitest";
import type { OwnInstallation } from "#kernel/installation.ts";
import { seconds } from "#storage/clock.ts";
import type { PluginDatabase } from "#kernel/plugin.ts";
import { type App, startApp } from "#test/support/app.ts";
import { OwnBackups, type OwnBackupParts } from "./own-backups.ts";
import type { BackupTables } from "./tables.ts";

let app: App;
let db: PluginDatabase<BackupTables>;
beforeAll(async () => {
  app = await startApp();
  db = app.running.database.db as unknown as PluginDatabase<BackupTables>;
});
afterAll(() => app?.close());

const hour = 3600;

/** Rows of backups that began so many hours ago and have no end yet; resolves to the ids that still have none. */
async function closeAfter(kind: "embedded" | "server", hours: readonly number[]): Promise<string[]> {
  const started = hours.map((ago) => ({ id: `${kind}-${ago}`, started_at: seconds() - ago * hour }));
  await db
    .insertInto("backup")
    .values(started.map((row) => ({ ...row, place: "/backups", name: row.id })))
    .execute();
  const installation = { database: { kind } } as OwnInstallation;
  await new OwnBackups({ db, installation } as OwnBackupParts).closeAbandoned({ longestSeconds: 6 * hour });
  const rows = await db.selectFrom("backup").selectAll().where("id", "like", `${kind}-%`).execute();
  const ended = rows.filter(({ finished_at: at }) => at !== null);
  expect(ended.every(({ error }) => error === "The server ended before the backup was whole.")).toBe(true);
  return rows.filter(({ finished_at: at }) => at === null).map(({ id }) => id);
}

test("a start ends what a killed server left, and leaves alone what another replica may be taking", async () => {
  expect(await closeAfter("embedded", [0, 1])).toEqual([]);
  expect(await closeAfter("server", [1, 7])).toEqual(["server-1"]);
});

test("a backup is checked once at a time, and again after the server that checked it was killed", async () => {
  const row = { id: "checked", started_at: seconds(), finished_at: seconds(), bytes: 1 };
  await db
    .insertInto("backup")
    .values({ ...row, place: "/backups", name: row.id })
    .execute();
  const backups = new OwnBackups({
    db,
    installation: { database: { kind: "embedded" } } as OwnInstallation,
  } as OwnBackupParts);
  const ask = () => backups.askToVerify(row.id);
  expect([await ask(), await ask()]).toEqual([true, false]);
  await backups.closeAbandoned({ longestSeconds: 6 * hour });
  expect(await ask()).toBe(true);
});
