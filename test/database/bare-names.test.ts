import { Client } from "pg";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { toMigrationSets } from "#kernel/release.ts";
import { jobTables } from "#kernel/job-tables.ts";
import { orderPlugins } from "#kernel/order.ts";
import { kernelServiceIds } from "#kernel/parts.ts";
import { catalogue } from "#plugins/catalogue.ts";
import { openDatabase } from "#storage/database.ts";
import { migrate } from "#storage/migrate.ts";
import { prepareTestDataDir, type TestDataDir } from "#storage/testing.ts";
import { preparePlatformDataDir } from "#test/support/platform-database.ts";
import { findBareNames } from "./bare-names.ts";

let place: TestDataDir;
let client: Client;

const connect = async () => {
  client = new Client({ connectionString: place.env["DATABASE_URL"] });
  await client.connect();
};
afterEach(async () => {
  await client?.end();
  await place?.remove();
});

test("nothing in a migrated database depends on the search_path", async () => {
  place = await preparePlatformDataDir(catalogue, "server");
  await connect();
  expect(await findBareNames(client)).toEqual([]);
});

test("nor in one with a schema of its own", async () => {
  place = await prepareTestDataDir({ sets: [] }, "server");
  const schema = "Mill_race";
  const database = await openDatabase({ url: place.env["DATABASE_URL"]!, dataDir: "", schema });
  await migrate(database, toMigrationSets(orderPlugins(catalogue, kernelServiceIds)), {
    libraries: [jobTables(database, `${schema}_jobs`)],
  });
  await database.close();
  await connect();
  expect(await findBareNames(client)).toEqual([]);
});

describe("the check", () => {
  beforeEach(async () => {
    place = await prepareTestDataDir({ sets: [] }, "server");
    await connect();
    await client.query(`
      create table item (id int, word text);
      create function plain(word text) returns text language sql immutable as $$ select lower(word) $$;
      create function caller(word text) returns text language sql immutable as $$ select public.plain(word) $$;
      create function sound(word text) returns text language sql immutable as $$ select public.plain(word) $$`);
  });
  const find = async (statements: string) => {
    await client.query(statements);
    return (await findBareNames(client)).map((line) => line.replace(/(: function).*/, "$1"));
  };

  test("finds a function of SQL, and every kind of thing that calls one", async () => {
    const found = await find(`
      alter table item add column low text generated always as (caller(word)) stored,
        add column preset text default caller('x'), add constraint is_low check (caller(word) <> '');
      create table other (word text, fine text generated always as (sound(word)) stored);
      create index item_low on item (id, caller(word)) where caller(word) <> 'x';
      create view low_item as select caller(word) from item;
      create or replace function caller(word text) returns text language sql immutable as $$ select plain(word) $$`);
    expect(found).toEqual([
      "check is_low of public.item: function",
      "column low of public.item: function",
      "column preset of public.item: function",
      "function public.caller(text): function",
      "index public.item_low of public.item: function",
      "index public.item_low of public.item: function",
      "view public.low_item: function",
    ]);
  });

  test("finds tables and functions in the words of a trigger", async () => {
    const found = await find(`
      create function forget() returns trigger language plpgsql as $$ begin
        -- from item
        update item set word = plain(word);
        update public.item set word = public.plain(word);
        return old;
      end $$`);
    expect(found).toEqual(["function public.forget(): item", "function public.forget(): plain("]);
  });
});
