import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { SettingStore } from "#config/setting.ts";
import { createConfigStore } from "./config-store.ts";
import type { Database } from "./database.ts";
import { describeKinds } from "./kinds.fixture.ts";
import { openTestDatabase } from "./testing.ts";

describeKinds("config store", (kind) => {
  let database: Database;
  let store: SettingStore;
  beforeAll(async () => {
    database = await openTestDatabase([], kind);
    store = createConfigStore(database);
  });
  afterAll(() => database.close());
  beforeEach(() => store.remove("all"));

  test("keeps every kind of JSON value, with when and by whom", async () => {
    const values = {
      text: 'a "b"',
      list: [1, [2]],
      object: { a: null },
      none: null,
      flag: false,
      number: 0.25,
    };
    await store.save(
      Object.entries(values).map(([key, value]) => ({ key, value })),
      "ann",
    );
    const rows = await store.load();
    expect(Object.fromEntries(rows.map((row) => [row.key, row.value]))).toEqual(values);
    expect(rows[0]).toEqual({
      key: "flag",
      value: false,
      updatedAt: expect.any(Number),
      updatedBy: "ann",
      version: expect.any(Number),
    });
    expect((await store.load(["text", "missing"])).map((row) => row.key)).toEqual(["text"]);
    expect(await store.load([])).toEqual([]);
  });

  test("overwrites, the last value of a key winning", async () => {
    await store.save([{ key: "a", value: 1 }], "ann");
    await store.save(
      [
        { key: "a", value: 2 },
        { key: "a", value: 3 },
      ],
      null,
    );
    expect(await store.load()).toEqual([
      { key: "a", value: 3, updatedAt: expect.any(Number), updatedBy: null, version: expect.any(Number) },
    ]);
    await store.save([], null);
    await store.remove(["a"]);
    await store.remove([]);
    expect(await store.load()).toEqual([]);
  });

  test("announces the changed keys, in pieces that fit", async () => {
    const heard = new Set<string>();
    const removed = Promise.withResolvers<void>();
    await store.save([{ key: "marker", value: 1 }], null);
    const stop = await database.listen("config", (payload) => {
      (payload as { keys: string[] }).keys.forEach((key) => heard.add(key));
      if (heard.has("marker")) {
        removed.resolve();
      }
    });
    const keys = Array.from({ length: 200 }, (_, index) => `some.rather.long.name.of.a.setting.${index}`);
    await store.save(
      keys.map((key) => ({ key, value: 1 })),
      null,
    );
    await store.remove(["marker", "never.stored"]);
    await removed.promise;
    await stop();
    expect(heard).toEqual(new Set([...keys, "marker"]));
  });

  test("stores the same in another form, unless it changed meanwhile", async () => {
    await store.save([{ key: "a", value: ["x", { y: 1.5 }] }], "ann");
    await store.save([{ key: "b", value: "newer" }], "bob");
    const before = await store.load();
    await store.rewrite([
      { key: "a", before: ["x", { y: 1.5 }], after: "sealed" },
      { key: "b", before: "older", after: "sealed" },
      { key: "c", before: "gone", after: "sealed" },
    ]);
    expect(await store.load()).toEqual([{ ...before[0], value: "sealed" }, before[1]]);
  });

  test("two writers of the same keys do not wait for each other", async () => {
    const entries = (value: number, keys: string[]) => keys.map((key) => ({ key, value }));
    await Promise.all(
      Array.from({ length: 20 }, (_, turn) =>
        store.save(entries(turn, turn % 2 ? ["a", "b", "c"] : ["c", "b", "a"]), null),
      ),
    );
    const values = (await store.load()).map((row) => row.value);
    expect(new Set(values).size).toBe(1);
  });
});
