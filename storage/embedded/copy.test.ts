import { mkdir, mkdtemp, readdir, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openDatabase } from "../database.ts";

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "copies-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const texts = async (database: Awaited<ReturnType<typeof openDatabase>>) =>
  (await database.query("select text from sack order by text")).rows.map((row) => row.text);

test("a copy of a database in use holds what was committed before it, and nothing later", async () => {
  const [dataDir, restored] = [join(folder, "used"), join(folder, "restored")];
  const database = await openDatabase({ dataDir });
  await database.query("create table sack (text text)");
  await database.query("insert into sack values ($1)", ["before"]);
  // A transaction keeps the database to itself: the copy waits for its end.
  const writing = database.transaction(async (tx) => {
    await tx.insertInto("sack").values({ text: "within" }).execute();
  });
  const copy = await database.copy();
  await writing;
  await database.query("insert into sack values ($1)", ["after"]);
  expect(await readdir(copy.folder)).toEqual(["database"]);
  await mkdir(restored);
  await rename(join(copy.folder, "database"), join(restored, "database"));
  await copy.remove();
  const other = await openDatabase({ dataDir: restored });
  expect(await texts(other)).toEqual(["before", "within"]);
  expect(await texts(database)).toEqual(["after", "before", "within"]);
  await other.close();
  await database.close();
});

test("a copy that a dead process left behind goes at the next start", async () => {
  const dataDir = join(folder, "stale");
  await mkdir(join(dataDir, "database-copy-abc", "database"), { recursive: true });
  const database = await openDatabase({ dataDir });
  expect((await readdir(dataDir)).filter((name) => name.startsWith("database-copy-"))).toEqual([]);
  await database.close();
});
