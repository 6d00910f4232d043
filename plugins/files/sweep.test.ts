import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createLogger } from "#kernel/log.ts";
import { type Blobs, openBlobs } from "#storage/blobs.ts";
import { seconds } from "#storage/clock.ts";
import { openTestDatabase } from "#storage/testing.ts";
import { createListStore } from "./list-store.ts";
import { migration } from "./migrations/0001_files.ts";
import { createFileStore } from "./store.ts";
import { createSweep } from "./sweep.ts";

let database: Awaited<ReturnType<typeof openTestDatabase>>;
let blobs: Blobs;

beforeAll(async () => {
  database = await openTestDatabase([{ owner: "files", migrations: { "0001_files": migration } }]);
  blobs = await openBlobs({ dataDir: database.dataDir });
});

afterAll(() => database.close());

/** Stores bytes whose upload began that long ago, with or without a row. */
async function put(secondsAgo: number, withRow: boolean): Promise<string> {
  const id = randomUUID();
  const began = seconds() - secondsAgo;
  const path = `files/${Math.floor(began / 86_400)}/${began}-${id}`;
  await blobs.write(path, [Buffer.from("x")] as never);
  if (withRow) {
    const file = { id, userId: "u", hash: "h", filename: "a", path, status: "completed", meta: {} } as const;
    await createFileStore(database.db).insert(file);
  }
  return path;
}

it("bytes without a row are removed once they are old and were seen twice", async () => {
  await blobs.write("models/background", [Buffer.from("x")] as never);
  const kept = [await put(7200, true), await put(10, true), await put(10, false), "models/background"];
  const stray = await put(7200, false);
  const log = createLogger({ level: "CRITICAL", format: "json" });
  const lists = createListStore(database.db);
  const { sweepStrays } = createSweep({ lists, blobs, log, removeOwnerless: async () => undefined });

  expect(await sweepStrays()).toBe(0);
  expect(await blobs.keys()).toContain(stray);
  // Its upload took hours and ends between two sweeps.
  const late = await put(7200, false);
  expect(await sweepStrays()).toBe(1);
  expect((await blobs.keys()).toSorted()).toEqual([...kept, late].toSorted());
});

it("files of accounts that are gone are found", async () => {
  const lists = createListStore(database.db);
  const all = await lists.someIds(null, 10);
  expect((await lists.ownerlessIds(10)).toSorted()).toEqual(all);
  const account = {
    id: "u",
    email: "u@example.test",
    role: "user",
    name: "U",
    last_active_at: 0,
    updated_at: 0,
    created_at: 0,
  };
  await database.db.insertInto("user").values(account).execute();
  expect(await lists.ownerlessIds(10)).toEqual([]);
});
