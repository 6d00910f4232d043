import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Client } from "pg";
import { isUnavailable, openDatabase, type Database } from "./database.ts";
import { createNames } from "./server/statements.ts";
import { prepareTestDataDir, type TestDataDir, testServer } from "./testing.ts";

describe("server", () => {
  let place: TestDataDir;
  let database: Database;
  let admin: Client;
  let log: string[];
  beforeEach(async () => {
    place = await prepareTestDataDir({}, "server");
    log = [];
    database = await openDatabase({
      url: place.env.DATABASE_URL,
      dataDir: place.env.DATA_DIR!,
      pool: { size: 3, timeoutSeconds: 1 },
      log: (message) => log.push(message),
    });
    admin = new Client({ connectionString: testServer() });
    await admin.connect();
  });
  afterEach(async () => {
    await admin.end();
    await database.close();
    await place.remove();
  });

  const name = () => new URL(place.env.DATABASE_URL!).pathname.slice(1);
  const breakAll = () =>
    admin.query("select pg_terminate_backend(pid) from pg_stat_activity where datname = $1", [name()]);

  test("survives the loss of idle connections", async () => {
    await Promise.all([1, 2, 3].map(() => database.query("select pg_sleep(0.02)")));
    await breakAll();
    await expect
      .poll(() =>
        database.ping().then(
          () => true,
          () => false,
        ),
      )
      .toBe(true);
    expect(await database.db.selectFrom("user").selectAll().execute()).toEqual([]);
  });

  test("reports a connection lost in a transaction as unavailable and rolls back", async () => {
    const attempt = database.transaction(async (tx) => {
      await tx.insertInto("secret").values({ name: "a", value: "b" }).execute();
      await breakAll();
      await tx.insertInto("secret").values({ name: "c", value: "d" }).execute();
    });
    const error: unknown = await attempt.catch((reason: unknown) => reason);
    expect(isUnavailable(error)).toBe(true);
    await expect
      .poll(() =>
        database.ping().then(
          () => true,
          () => false,
        ),
      )
      .toBe(true);
    expect(await database.db.selectFrom("secret").selectAll().execute()).toEqual([]);
  });

  test("says unavailable when no connection comes free in time", async () => {
    const holders = [1, 2, 3].map(() => database.query("select pg_sleep(1.6)"));
    const error: unknown = await database.db
      .selectFrom("user")
      .selectAll()
      .execute()
      .catch((reason: unknown) => reason);
    expect(isUnavailable(error)).toBe(true);
    await Promise.all(holders);
  });

  test("listens again after a lost connection and tells of the gap", async () => {
    const heard: unknown[] = [];
    const gap = Promise.withResolvers<void>();
    database.onListenGap(() => gap.resolve());
    await database.listen("config", (payload) => heard.push(payload));
    await breakAll();
    await gap.promise;
    const later = Promise.withResolvers<void>();
    await database.listen("later", () => later.resolve());
    await database.notify("config", 1);
    await database.notify("later", 2);
    await later.promise;
    expect(heard).toEqual([1]);
    expect(log.some((message) => message.includes("announcements was lost"))).toBe(true);
  });

  test("prepares repeated statements once per connection and survives a changed table", async () => {
    const read = () => database.db.selectFrom("secret").selectAll().where("name", "=", "a").execute();
    await database.query("insert into secret values ('a', 'b')");
    for (let time = 0; time < 4; time += 1) {
      expect(await read()).toEqual([{ name: "a", value: "b" }]);
    }
    const prepared = await database.db
      .selectFrom("pg_prepared_statements")
      .select("statement")
      .where("statement", "like", '%from "secret"%')
      .execute();
    expect(prepared).toHaveLength(1);
    await database.query("alter table secret add column extra text");
    expect(await read()).toEqual([{ name: "a", value: "b", extra: null }]);
  });
});

describe("names of prepared statements", () => {
  test("are given at the second sight, up to the limit, and only to statements that can be prepared", () => {
    const names = createNames(2);
    const see = (text: string) => [names.nameOf(text), names.nameOf(text)];
    expect(names.nameOf("select 1")).toBeUndefined();
    const name = names.nameOf("select 1");
    expect(name).toMatch(/^s_[0-9a-f]{24}$/);
    expect(names.nameOf("select 1")).toBe(name);
    expect(see("create table x ()")).toEqual([undefined, undefined]);
    expect(see("begin")).toEqual([undefined, undefined]);
    expect(see("select 2")[1]).not.toBe(name);
    expect(see("select 3")).toEqual([undefined, undefined]);
    names.forget("select 1");
    expect(see("select 1")).toEqual([undefined, name]);
  });
});

describe("isUnavailable", () => {
  const refused = Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
  test.each<[string, unknown, boolean]>([
    ["a refused connection", refused, true],
    ["its aggregate", new AggregateError([refused]), true],
    ["its wrapper", new Error("outer", { cause: refused }), true],
    ["a shutdown", Object.assign(new Error("terminating"), { code: "57P01" }), true],
    ["a connection error class", Object.assign(new Error("x"), { code: "08006" }), true],
    ["a terminated connection", new Error("Connection terminated unexpectedly"), true],
    ["a unique violation", Object.assign(new Error("dup"), { code: "23505" }), false],
    ["a plain error", new Error("Connection is a word"), false],
    ["no error", undefined, false],
  ])("%s", (_, error, expected) => expect(isUnavailable(error)).toBe(expected));
});
