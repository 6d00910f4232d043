import { fork } from "node:child_process";
import { once } from "node:events";
import { sql } from "kysely";
import type { Migration } from "kysely/migration";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { coreMigrations } from "./core-migrations.ts";
import { openDatabase, type Database } from "./database.ts";
import { describeKinds } from "./kinds.fixture.ts";
import { type LibraryTables, migrate, type MigrationSet } from "./migrate.ts";
import { openTestDatabase, prepareTestDataDir, type TestDataDir } from "./testing.ts";

const create = (table: string): Migration => ({
  up: (db) => db.schema.createTable(table).addColumn("id", "integer").execute(),
});
const fail: Migration = {
  async up(db) {
    await sql`create table half (id int)`.execute(db);
    await sql`select 1 / 0`.execute(db);
  },
};

const tablesOf = async (database: Database) => {
  const { rows } = await database.query(
    "select table_name from information_schema.tables where table_schema = 'public' order by 1",
  );
  return rows.map((row) => row.table_name as string);
};
const ledger = async (database: Database, owner: string) =>
  (await database.query(`select name from migration."${owner}" order by name`)).rows.map(
    (row) => row.name as string,
  );

describeKinds("migrate", (kind) => {
  let database: Database;
  beforeEach(async () => {
    database = await openTestDatabase([], kind);
  });
  afterEach(() => database.close());

  test("runs owners in the given order and steps by name, once", async () => {
    const order: string[] = [];
    const note = (name: string): Migration => ({
      up: async (db) => {
        order.push(name);
        await create(name).up(db);
      },
    });
    const sets: MigrationSet[] = [
      { owner: "zebra", migrations: { "0002_b": note("zebra_b"), "0001_a": note("zebra_a") } },
      { owner: "apple", migrations: { "0001_a": note("apple_a") } },
    ];
    await migrate(database, sets);
    await migrate(database, sets);
    expect(order).toEqual(["zebra_a", "zebra_b", "apple_a"]);
    expect(await ledger(database, "zebra")).toEqual(["0001_a", "0002_b"]);
    await migrate(database, [
      { owner: "zebra", migrations: { ...sets[0]!.migrations, "0003_c": note("zebra_c") } },
    ]);
    expect(order.at(-1)).toBe("zebra_c");
  });

  test("names owner and step of a failure, keeps what came before and nothing of the step", async () => {
    const sets = [{ owner: "sample", migrations: { "0001_good": create("good"), "0002_bad": fail } }];
    await expect(migrate(database, sets)).rejects.toThrow(/sample 0002_bad failed.*division by zero/);
    expect(await ledger(database, "sample")).toEqual(["0001_good"]);
    const tables = await tablesOf(database);
    expect(tables).toContain("good");
    expect(tables).not.toContain("half");
    await migrate(database, [
      { owner: "sample", migrations: { "0001_good": create("good"), "0002_bad": create("repaired") } },
    ]);
    expect(await tablesOf(database)).toContain("repaired");
  });

  test("refuses a database that is newer than the code", async () => {
    await migrate(database, [
      { owner: "sample", migrations: { "0001_a": create("a"), "0002_b": create("b") } },
    ]);
    await expect(
      migrate(database, [{ owner: "sample", migrations: { "0001_a": create("a") } }]),
    ).rejects.toThrow(/newer than this version.*sample 0002_b/);
  });

  test("with migrations switched off serves a current database and refuses one that is behind", async () => {
    const current = [{ owner: "core", migrations: coreMigrations }];
    await expect(migrate(database, current, { enabled: false })).resolves.toBeUndefined();
    const behind = [...current, { owner: "sample", migrations: { "0001_a": create("a") } }];
    await expect(migrate(database, behind, { enabled: false })).rejects.toThrow(/lacks 1 .*sample 0001_a/);
    expect(await tablesOf(database)).not.toContain("a");
  });

  describe("tables that a library makes", () => {
    const library = (has: number | null, made: string[] = []): LibraryTables => ({
      owner: "queue",
      needs: 3,
      has: async () => has,
      make: async () => {
        made.push((await tablesOf(database)).includes("after") ? "after the steps" : "before the steps");
        await database.query("create table queue (id int)");
      },
    });
    const sets = [{ owner: "sample", migrations: { "0001_a": create("after") } }];

    test("come after all steps, and only when they are behind", async () => {
      const made: string[] = [];
      const told: string[] = [];
      const log = (message: string) => told.push(message);
      await migrate(database, sets, { log, libraries: [library(null, made)] });
      await migrate(database, sets, { log, libraries: [library(3, made)] });
      expect(made).toEqual(["after the steps"]);
      expect(told).toEqual(["Migrating sample 0001_a", "Migrating queue 3"]);
      const failed = migrate(database, sets, { libraries: [library(2)] });
      await expect(failed).rejects.toThrow(/^Migration queue 3 failed, .*"queue" already exists/);
    });

    test("are not made while migrations are switched off, but missed", async () => {
      await migrate(database, sets);
      const off = (has: number | null) =>
        migrate(database, sets, { enabled: false, libraries: [library(has)] });
      await expect(off(3)).resolves.toBeUndefined();
      await expect(off(null)).rejects.toThrow(
        /lacks 1 migration steps \(queue 3\), and migrations are switched/,
      );
      await expect(off(2)).rejects.toThrow(/lacks 1 .*queue 3/);
      expect(await tablesOf(database)).not.toContain("queue");
    });

    test("that are beyond this version are refused before anything is changed", async () => {
      const newer = migrate(database, sets, { libraries: [library(4)] });
      await expect(newer).rejects.toThrow(/newer than this version: it has queue 4/);
      expect(await tablesOf(database)).not.toContain("after");
    });
  });

  test("refuses an owner whose name could not be a ledger", async () => {
    await expect(migrate(database, [{ owner: 'a"; drop', migrations: {} }])).rejects.toThrow(
      /cannot own migrations/,
    );
  });
});

describeKinds("migrating processes", (kind) => {
  const script = new URL("migrate-process.fixture.ts", import.meta.url).pathname;
  const start = (env: Record<string, string>, mode: string) =>
    fork(script, [env.DATA_DIR!, env.DATABASE_URL ?? "", mode], {
      stdio: ["ignore", "ignore", "inherit", "ipc"],
    });
  const messageOf = async (child: ReturnType<typeof start>) =>
    ((await once(child, "message")) as [string])[0];
  let place: TestDataDir;
  beforeEach(async () => {
    place = await prepareTestDataDir({}, kind);
  });
  afterEach(() => place.remove());

  test("a step that is killed leaves nothing, and the next start runs it", async () => {
    const stuck = start(place.env, "stuck");
    expect(await messageOf(stuck)).toBe("in the step");
    const gone = once(stuck, "exit");
    stuck.kill("SIGKILL");
    await gone;
    expect(JSON.parse(await messageOf(start(place.env, "plain")))).toEqual(["Migrating sample 0002_slow"]);
    const database = await openDatabase({ url: place.env.DATABASE_URL, dataDir: place.env.DATA_DIR! });
    expect(await ledger(database, "sample")).toEqual(["0001_first", "0002_slow"]);
    expect((await database.query("select count(*) as n from slow")).rows).toEqual([{ n: 1 }]);
    await database.close();
  });

  test("three at once: one runs the steps, nobody runs them twice", async () => {
    const answers = await Promise.all([1, 2, 3].map(() => messageOf(start(place.env, "plain"))));
    const runs = answers.filter((answer) => answer.includes("Migrating sample 0001_first"));
    expect(runs).toHaveLength(1);
    // On a server the others wait and find nothing to do; the embedded database may refuse them before that.
    for (const answer of answers.filter((text) => !runs.includes(text))) {
      const refused = kind === "embedded" && answer.startsWith("failed: Another process already uses");
      expect(refused || !answer.startsWith("failed")).toBe(true);
      expect(answer).not.toContain("Migrating sample");
    }
  });
});

describe("DATABASE_SCHEMA", () => {
  test("keeps two installations in one database apart", async () => {
    const place = await prepareTestDataDir({}, "server");
    const options = { url: place.env.DATABASE_URL, dataDir: place.env.DATA_DIR! };
    const first = await openDatabase({ ...options, schema: "public" });
    const second = await openDatabase({ ...options, schema: "other" });
    await migrate(second, [{ owner: "core", migrations: coreMigrations }]);
    await second.db.insertInto("secret").values({ name: "a", value: "b" }).execute();
    expect(await first.db.selectFrom("secret").selectAll().execute()).toEqual([]);
    const heard: unknown[] = [];
    const arrived = Promise.withResolvers<void>();
    await first.listen("config", (payload) => heard.push(payload));
    await second.listen("config", () => arrived.resolve());
    await second.notify("config", "second");
    await arrived.promise;
    await first.notify("config", "first");
    await expect.poll(() => heard).toEqual(["first"]);
    await first.close();
    await second.close();
    await place.remove();
  });

  test("holds for a name with capitals as well", async () => {
    const place = await prepareTestDataDir({}, "server");
    const options = { url: place.env.DATABASE_URL, dataDir: place.env.DATA_DIR! };
    const own = await openDatabase({ ...options, schema: "Other" });
    expect((await own.query("select current_schema() as name")).rows).toEqual([{ name: "Other" }]);
    await own.close();
    await place.remove();
  });

  test("that is missing is neither made nor passed over where migrations are switched off", async () => {
    const place = await prepareTestDataDir({}, "server");
    const options = { url: place.env.DATABASE_URL, dataDir: place.env.DATA_DIR!, schema: "other" };
    await expect(openDatabase({ ...options, mayCreate: false })).rejects.toThrow(
      /no schema other \(DATABASE_SCHEMA\), and migrations are switched off/,
    );
    await (await openDatabase(options)).close();
    await (await openDatabase({ ...options, mayCreate: false })).close();
    await place.remove();
  });
});

describe("a pool of one connection", () => {
  test("is enough to migrate", async () => {
    const place = await prepareTestDataDir({}, "server");
    const database = await openDatabase({
      url: place.env.DATABASE_URL,
      dataDir: place.env.DATA_DIR!,
      pool: { size: 1, timeoutSeconds: 2 },
    });
    await migrate(database, [], {
      libraries: [
        {
          owner: "queue",
          needs: 1,
          has: async () => null,
          make: async () => void (await database.query("create table queue (id int)")),
        },
      ],
    });
    expect(await tablesOf(database)).toContain("queue");
    await database.close();
    await place.remove();
  });
});
