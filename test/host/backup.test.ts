import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { extract } from "tar";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openDatabase } from "#storage/database.ts";
import { type App, startApp, type TestUser } from "#test/support/app.ts";

let app: App;
let admin: TestUser;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "backup-"));
  app = await startApp();
  admin = await app.admin();
});
afterAll(async () => {
  await app?.close();
  await rm(folder, { recursive: true, force: true });
});

const download = (token: string) =>
  fetch(`${app.url}/api/v1/utils/db/download`, { headers: { authorization: `Bearer ${token}` } });

test("administrators take the embedded database home, and it opens elsewhere", async () => {
  expect((await download((await app.user()).token)).status).toBe(403);
  const answer = await download(admin.token);
  if (app.running.database.kind === "server") {
    expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining("pg_dump")]);
    return;
  }
  expect(answer.status).toBe(200);
  expect(answer.headers.get("content-disposition")).toMatch(/database-\d{4}-\d\d-\d\d\.tar\.gz/);
  const file = join(folder, "copy.tar.gz");
  await writeFile(file, Buffer.from(await answer.arrayBuffer()));
  const dataDir = join(folder, "data");
  await mkdir(dataDir);
  await extract({ file, cwd: dataDir });
  expect(await readdir(dataDir)).toEqual(["database"]);
  const database = await openDatabase({ dataDir });
  const { rows } = await database.query("select email from auth");
  expect(rows).toContainEqual({ email: admin.email });
  await database.close();
  expect((await admin.call("GET /api/v1/audit?action=database.downloaded")).body.records).toHaveLength(1);
}, 120_000);
