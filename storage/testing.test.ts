import { stat } from "node:fs/promises";
import type { Migration } from "kysely/migration";
import { expect, test } from "vitest";
import { openDatabase } from "./database.ts";
import { describeKinds } from "./kinds.fixture.ts";
import { openTestDatabase, prepareTestDataDir } from "./testing.ts";

const extra: Record<string, Migration> = {
  "0001_extra": { up: (db) => db.schema.createTable("extra").addColumn("id", "text").execute() },
};

describeKinds("test databases", (kind) => {
  test("are migrated, apart from each other, and gone after closing", async () => {
    const first = await openTestDatabase([{ owner: "extra", migrations: extra }], kind);
    const second = await openTestDatabase([{ owner: "extra", migrations: extra }], kind);
    await first.db.insertInto("extra").values({ id: "first" }).execute();
    expect(await second.db.selectFrom("extra").selectAll().execute()).toEqual([]);
    expect(await second.db.selectFrom("user").selectAll().execute()).toEqual([]);
    expect(first.kind).toBe(kind);
    await first.close();
    await second.close();
    await expect(stat(first.dataDir)).rejects.toThrow("ENOENT");
  });

  test("can be prepared for a process that opens them by itself", async () => {
    const place = await prepareTestDataDir({}, kind);
    const { DATABASE_URL: url, DATA_DIR: dataDir = "" } = place.env;
    const database = await openDatabase({ url, dataDir });
    await database.db.insertInto("secret").values({ name: "a", value: "b" }).execute();
    await database.close();
    const again = await openDatabase({ url, dataDir });
    expect(await again.db.selectFrom("secret").selectAll().execute()).toEqual([{ name: "a", value: "b" }]);
    await again.close();
    await place.remove();
    await expect(stat(dataDir)).rejects.toThrow("ENOENT");
  });
});
