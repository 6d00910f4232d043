import { afterEach, beforeEach, expect, test } from "vitest";
import type { Database } from "./database.ts";
import { openTestDatabase } from "./testing.ts";
import { tend } from "./upkeep.ts";

let database: Database;
beforeEach(async () => {
  database = await openTestDatabase([], "embedded");
});
afterEach(() => database.close());

test("what many changes leave behind is cleaned up, and the planner learns how large a table is", async () => {
  await database.query(`create table "Odd name" (id int primary key, owner text)`);
  await database.query(`create index by_owner on "Odd name" (owner)`);
  await database.query(`insert into "Odd name" select at, 'me' from generate_series(1, 5000) as at`);
  await database.query(`update "Odd name" set owner = 'you' where id <= 2000`);
  const facts = async () =>
    (
      await database.query(`select n_dead_tup::int as dead, reltuples::int as counted
        from pg_stat_user_tables as s join pg_class as c on c.oid = s.relid where s.relname = 'Odd name'`)
    ).rows[0];
  // The database writes its counters at most once a second.
  await expect.poll(facts, { timeout: 10_000 }).toEqual({ dead: 2000, counted: -1 });
  expect(await tend(database)).toContain(`public."Odd name"`);
  await expect.poll(facts, { timeout: 10_000 }).toEqual({ dead: 0, counted: 5000 });
  await expect.poll(() => tend(database), { timeout: 10_000 }).toEqual([]);
  await database.query(`update "Odd name" set owner = 'they' where id <= 10`);
  expect(await tend(database)).toEqual([]);
});
