import { sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import { isUniqueViolation, type Database } from "./database.ts";
import { describeKinds } from "./kinds.fixture.ts";
import { openTestDatabase } from "./testing.ts";
import { toBigInt, toJson } from "./values.ts";

describeKinds("database", (kind) => {
  let database: Database & { dataDir: string };
  beforeAll(async () => {
    database = await openTestDatabase([], kind);
    await database.query(`create table sample (
      id text primary key, small integer, count bigint, doc jsonb, tags text[], stamps bigint[],
      day date, amount numeric, moment timestamptz, span interval, flag boolean, ratio double precision, bytes bytea)`);
  });
  afterAll(() => database.close());

  const insert = (row: Record<string, unknown>) =>
    database.db.insertInto("sample").values(row).returningAll().executeTakeFirstOrThrow();

  test("hands out bigint columns as numbers, and as bigint beyond what a number holds", async () => {
    const big = 1_763_728_000_123_456_789n;
    expect((await insert({ id: "n1", count: 7 })).count).toBe(7);
    expect((await insert({ id: "n2", count: Number.MAX_SAFE_INTEGER })).count).toBe(Number.MAX_SAFE_INTEGER);
    expect((await insert({ id: "n3", count: big })).count).toBe(big);
    expect((await insert({ id: "n4", count: -big })).count).toBe(-big);
    expect((await insert({ id: "n5", stamps: [1, big] })).stamps).toEqual([1, big]);
    expect(toBigInt(7)).toBe(7n);
    expect(toBigInt(big)).toBe(big);
    const counted = await database.db
      .selectFrom("sample")
      .select((eb) => eb.fn.countAll().as("n"))
      .execute();
    expect(counted).toEqual([{ n: 5 }]);
  });

  test("hands out the other types alike", async () => {
    const row = await insert({
      id: "t1",
      doc: { a: [1, { b: null }] },
      tags: ["x", 'quote "', "comma,"],
      day: "2026-02-28",
      amount: "12.50",
      moment: new Date("2026-03-01T10:00:00Z"),
      span: "1 day 02:00:00",
      flag: true,
      ratio: 0.5,
      bytes: new Uint8Array([0, 255]),
      small: undefined,
    });
    expect({ ...row, bytes: [...row.bytes] }).toEqual({
      id: "t1",
      small: null,
      count: null,
      doc: { a: [1, { b: null }] },
      tags: ["x", 'quote "', "comma,"],
      stamps: null,
      day: "2026-02-28",
      amount: "12.50",
      moment: new Date("2026-03-01T10:00:00Z"),
      span: "1 day 02:00:00",
      flag: true,
      ratio: 0.5,
      bytes: [0, 255],
    });
  });

  test.each([[[1, "two", { three: [] }]], ["text"], [12.5], [true], [null], [{ a: "b" }]])(
    "stores %j in a json column through toJson",
    async (value) => {
      const id = `j${JSON.stringify(value)}`;
      expect((await insert({ id, doc: toJson(value) })).doc).toEqual(value);
    },
  );

  test("refuses an array that was meant for a json column but not given as one", async () => {
    await expect(insert({ id: "bare", doc: ["a"] })).rejects.toThrow();
  });

  test("counts changed rows", async () => {
    await insert({ id: "c1" });
    const result = await database.db
      .updateTable("sample")
      .set({ small: 2 })
      .where("id", "=", "c1")
      .executeTakeFirst();
    expect(result.numUpdatedRows).toBe(1n);
  });

  test("rolls a failed transaction back and commits a good one", async () => {
    await expect(
      database.transaction(async (tx) => {
        await tx.insertInto("sample").values({ id: "gone" }).execute();
        throw new Error("no");
      }),
    ).rejects.toThrow("no");
    const kept = await database.transaction((tx) =>
      tx.insertInto("sample").values({ id: "kept" }).returning("id").execute(),
    );
    expect(kept).toEqual([{ id: "kept" }]);
    const rows = await database.db
      .selectFrom("sample")
      .select("id")
      .where("id", "in", ["gone", "kept"])
      .execute();
    expect(rows).toEqual([{ id: "kept" }]);
  });

  test("keeps a second caller out of an open transaction", async () => {
    const inside = Promise.withResolvers<void>();
    const leave = Promise.withResolvers<void>();
    const first = database
      .transaction(async (tx) => {
        await tx.insertInto("sample").values({ id: "never" }).execute();
        inside.resolve();
        await leave.promise;
        throw new Error("rolled back");
      })
      .catch((error: Error) => error.message);
    await inside.promise;
    // These start while the transaction is open; none of them may become part of it or end it.
    const second = database.transaction((tx) => tx.insertInto("sample").values({ id: "second" }).execute());
    const plain = database.db.insertInto("sample").values({ id: "plain" }).execute();
    const raw = database.query("insert into sample (id) values ('raw'); select 1");
    leave.resolve();
    expect(await first).toBe("rolled back");
    await Promise.all([second, plain, raw]);
    const ids = ["never", "second", "plain", "raw"];
    const rows = await database.db
      .selectFrom("sample")
      .select("id")
      .where("id", "in", ids)
      .orderBy("id")
      .execute();
    expect(rows.map((row) => row.id)).toEqual(["plain", "raw", "second"]);
  });

  test("runs twenty transactions at once, each whole", async () => {
    await insert({ id: "sum", count: 0 });
    const add = () =>
      database.transaction(async (tx) => {
        const { count } = await tx
          .selectFrom("sample")
          .select("count")
          .where("id", "=", "sum")
          .forUpdate()
          .executeTakeFirstOrThrow();
        await tx
          .updateTable("sample")
          .set({ count: count + 1 })
          .where("id", "=", "sum")
          .execute();
      });
    await Promise.all(Array.from({ length: 20 }, add));
    const row = await database.db
      .selectFrom("sample")
      .select("count")
      .where("id", "=", "sum")
      .executeTakeFirst();
    expect(row).toEqual({ count: 20 });
  });

  test.each<[string, () => Promise<unknown>]>([
    ["a query", () => database.db.selectFrom("sample").selectAll().execute()],
    ["raw sql", () => sql`select 1`.execute(database.db)],
    ["a nested transaction", () => database.transaction(async () => {})],
    ["a connection", () => database.db.connection().execute(async () => {})],
    ["a raw query", () => database.query("select 1")],
    ["an announcement", () => database.notify("x", 1)],
    ["a listener", () => database.listen("x", () => {})],
    ["a ping", () => database.ping()],
  ])("throws at once on %s beside the open transaction", async (_, use) => {
    await database.transaction(async (tx) => {
      await expect(use()).rejects.toThrow(/transaction is running/);
      await tx.selectFrom("sample").select("id").limit(1).execute();
    });
    await expect(database.ping()).resolves.toBeUndefined();
  });

  test("lets work that outlives the transaction use the database", async () => {
    const leave = Promise.withResolvers<void>();
    let later: Promise<unknown> | undefined;
    await database.transaction(async () => {
      later = leave.promise.then(() => database.db.selectFrom("sample").select("id").limit(1).execute());
    });
    leave.resolve();
    await expect(later).resolves.toHaveLength(1);
  });

  test("does not report a commit that the database turned into a rollback", async () => {
    const attempt = database.transaction(async (tx) => {
      await tx.insertInto("sample").values({ id: "lost" }).execute();
      await sql`select 1 / 0`.execute(tx).catch(() => {});
    });
    await expect(attempt).rejects.toThrow(/abort|rolled back/i);
    expect(await database.db.selectFrom("sample").select("id").where("id", "=", "lost").execute()).toEqual(
      [],
    );
  });

  test("goes on after an error inside a savepoint", async () => {
    await database.transaction(async (tx) => {
      await sql`savepoint before`.execute(tx);
      await sql`select 1 / 0`.execute(tx).catch(() => {});
      await sql`rollback to savepoint before`.execute(tx);
      await tx.insertInto("sample").values({ id: "saved" }).execute();
    });
    expect(
      await database.db.selectFrom("sample").select("id").where("id", "=", "saved").execute(),
    ).toHaveLength(1);
  });

  test("names the violated constraint", async () => {
    await insert({ id: "twice" });
    const error: unknown = await insert({ id: "twice" }).catch((reason: unknown) => reason);
    expect(isUniqueViolation(error)).toBe("sample_pkey");
    expect(isUniqueViolation(new Error("other"))).toBeUndefined();
  });

  test("joins the rows of several raw statements and survives one that fails between begin and commit", async () => {
    expect(await database.query("select 1 as a; select 2 as a")).toMatchObject({
      rows: [{ a: 1 }, { a: 2 }],
    });
    await expect(
      database.query("begin; insert into sample (id) values ('half'); select 1/0; commit"),
    ).rejects.toThrow();
    expect(await database.query("select count(*) as n from sample where id = $1", ["half"])).toMatchObject({
      rows: [{ n: 0 }],
    });
  });

  test("hears announcements, also its own, until it stops listening", async () => {
    const heard: unknown[] = [];
    const arrived = Promise.withResolvers<void>();
    const stop = await database.listen("chat:one", (payload) => heard.push(payload));
    const stopMarker = await database.listen("marker", () => arrived.resolve());
    await database.notify("chat:one", { text: "ü", n: 1 });
    await database.notify("other", { never: true });
    await database.notify("marker", null);
    await arrived.promise;
    expect(heard).toEqual([{ text: "ü", n: 1 }]);
    await stop();
    await stopMarker();
    const again = Promise.withResolvers<void>();
    const stopAgain = await database.listen("marker", () => again.resolve());
    await database.notify("chat:one", { text: "unheard" });
    await database.notify("marker", null);
    await again.promise;
    await stopAgain();
    expect(heard).toHaveLength(1);
  });

  test("refuses announcements that the database would refuse, and takes the largest", async () => {
    await expect(database.notify("big", "x".repeat(7_899))).rejects.toThrow(/7901 bytes/);
    await expect(database.notify("big", "ü".repeat(3_950))).rejects.toThrow(/7902 bytes/);
    await expect(database.notify('x"; drop table sample', 1)).rejects.toThrow(/no channel name/);
    await expect(database.notify("big", "x".repeat(7_898))).resolves.toBeUndefined();
  });

  test("has the vector extension in the embedded database", async () => {
    if (kind === "embedded") {
      expect(database.hasVector).toBe(true);
      const { rows } = await database.query("select '[1,2]'::vector <-> '[1,4]'::vector as distance");
      expect(rows).toEqual([{ distance: 2 }]);
    } else {
      const { rows } = await database.query("select 1 from pg_extension where extname = 'vector'");
      expect(database.hasVector).toBe(rows.length > 0);
    }
  });
});
