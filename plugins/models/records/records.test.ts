import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createLogger } from "#kernel/log.ts";
import { createGrants } from "#storage/grants.ts";
import { openTestDatabase } from "#storage/testing.ts";
import { migration } from "../migrations/0001_models.ts";
import { createModelRecords, type ModelRecords, type RecordMap } from "./records.ts";
import type { ModelDatabase } from "../tables.ts";

let database: Awaited<ReturnType<typeof openTestDatabase>>;
let records: ModelRecords;
const stopping = new AbortController();

beforeAll(async () => {
  database = await openTestDatabase([{ owner: "models", migrations: { "0001_models": migration } }]);
  const log = createLogger({ level: "CRITICAL", format: "json" });
  const db = database.db as unknown as ModelDatabase;
  records = createModelRecords({ db, grants: createGrants(database), log, signal: stopping.signal });
  await records.refresh();
});
afterAll(async () => {
  stopping.abort();
  await database.close();
});

const insert = (id: string) =>
  database.query(
    "insert into model (id, user_id, name, meta, created_at, updated_at) values ($1, '', $1, $2, 1, 1)",
    [id, JSON.stringify({ profile_image_url: "data:image/png;base64,AAAA", description: id })],
  );
const ids = (map: RecordMap) => [...map.keys()].toSorted();

it("answer from memory while a change is being read, and never wait for it", async () => {
  await insert("one");
  records.follow();
  const before = records.current();
  expect(before).toBeInstanceOf(Map);
  expect(ids(before as RecordMap)).toEqual([]);
  expect(ids(await records.fresh())).toEqual(["one"]);
  expect(ids(records.current() as RecordMap)).toEqual(["one"]);
});

it("leave pictures in the database", () => {
  expect((records.current() as RecordMap).get("one")?.meta).toEqual({ description: "one" });
});

it("hold a change that was made while another was being read", async () => {
  const first = records.refresh();
  await insert("two");
  await Promise.all([records.refresh(), records.refresh(), first]);
  expect(ids(records.current() as RecordMap)).toEqual(["one", "two"]);
});

it("keep what they knew while the database fails, and come back by themselves", async () => {
  await database.query("alter table model rename to hidden_model");
  records.follow();
  await expect(records.refresh()).rejects.toThrow("model");
  expect(ids(await records.fresh())).toEqual(["one", "two"]);
  await database.query("alter table hidden_model rename to model");
  await insert("three");
  for (let tries = 0; ids(records.current() as RecordMap).length < 3; tries++) {
    expect(tries).toBeLessThan(100);
    await pause(50);
  }
});
