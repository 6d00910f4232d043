import { sql } from "kysely";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import type { Principal } from "#kernel/access/principal.ts";
import { createAccess } from "#kernel/access/resource.ts";
import { createLogger } from "#kernel/log.ts";
import { seconds } from "#storage/clock.ts";
import { createGrants } from "#storage/grants.ts";
import { openTestDatabase } from "#storage/testing.ts";
import { createStoredItems, type StoredItems } from "./stored-items.ts";
import { createItems } from "./migrations/0001_items.ts";
import type { ResponseDatabase } from "./tables.ts";

let database: Awaited<ReturnType<typeof openTestDatabase>>;
let db: ResponseDatabase;
let items: StoredItems;

beforeAll(async () => {
  database = await openTestDatabase([{ owner: "responses", migrations: { "0001_items": createItems } }]);
  db = database.db as unknown as ResponseDatabase;
  const access = createAccess({ grants: createGrants(database), adminsPass: () => true });
  items = createStoredItems({ db, access, log: createLogger({ level: "CRITICAL", format: "json" }) });
  for (const id of ["ana", "bob"]) {
    const times = { last_active_at: 0, created_at: 0, updated_at: 0 };
    const account = { id, email: `${id}@example.test`, role: "user", name: id, ...times };
    await database.db
      .insertInto("user")
      .values(account as never)
      .execute();
  }
});
afterAll(() => database.close());
beforeEach(() => db.deleteFrom("response_item").execute());

const caller = (userId: string, role = "user") => ({ userId, role, groupIds: [] }) as unknown as Principal;
const item = (id: string, text = "") => ({ id, type: "message", status: "completed", text });
const found = async (userId: string, ...ids: string[]) =>
  [...(await items.find(caller(userId), ids)).keys()].toSorted();
const age = (id: string, by: number) =>
  db
    .updateTable("response_item")
    .set({ created_at: seconds() - by })
    .where("id", "=", id)
    .execute();
const stored = async () =>
  (await db.selectFrom("response_item").select("id").orderBy("id").execute()).map(({ id }) => id);

it("finds items of the same account only, even for administrators", async () => {
  await items.store("ana", [item("a", "nul \u0000 and 😀"), item("b")]);
  expect((await items.find(caller("ana"), ["b", "a"])).get("a")).toEqual(item("a", "nul \u0000 and 😀"));
  expect(await found("ana", "a", "b", "c")).toEqual(["a", "b"]);
  expect(await found("bob", "a", "b")).toEqual([]);
  expect((await items.find(caller("bob", "admin"), ["a"])).size).toBe(0);
});

it("lets items go after an hour", async () => {
  await items.store("ana", [item("a"), item("b")]);
  await age("a", 3601);
  await age("b", 3500);
  expect(await found("ana", "a", "b")).toEqual(["b"]);
  await items.sweep();
  expect(await stored()).toEqual(["b"]);
});

it("keeps no more of an account than fits, the latest of it, and nothing that is too long", async () => {
  const large = "x".repeat(1000 * 1024);
  await items.store("bob", [item("other")]);
  for (let n = 0; n < 20; n++) {
    const id = `i${String(n).padStart(2, "0")}`;
    await items.store("ana", [item(id, large)]);
    await age(id, 100 - n);
  }
  await items.store("ana", [item("huge", large + large)]);
  await items.sweep();
  const ids = await stored();
  expect(ids).toEqual([
    ...Array.from({ length: 16 }, (_, n) => `i${String(n + 4).padStart(2, "0")}`),
    "other",
  ]);
});

it("keeps what others said when an account is deleted meanwhile", async () => {
  // The first one is on its way while the other two wait for the next statement.
  await Promise.all([
    items.store("ana", [item("a")]),
    items.store("gone", [item("b")]),
    items.store("ana", [item("c")]),
  ]);
  expect(await stored()).toEqual(["a", "c"]);
});

it("goes with the account", async () => {
  await items.store("bob", [item("b")]);
  await database.db.deleteFrom("user").where("id", "=", "bob").execute();
  expect(await stored()).toEqual([]);
});

it("does not hold an answer up for longer than a second while the database is busy", async () => {
  const released = Promise.withResolvers<void>();
  const locked = Promise.withResolvers<void>();
  const holding = database.transaction(async (tx) => {
    await sql`lock table response_item in access exclusive mode`.execute(tx);
    locked.resolve();
    await released.promise;
  });
  await locked.promise;
  await items.store("ana", [item("a")]);
  released.resolve();
  await holding;
  await expect.poll(stored).toEqual(["a"]);
});

it("does not fail an answer when its items cannot be kept", async () => {
  await sql`alter table response_item rename to elsewhere`.execute(db);
  await items.store("ana", [item("a")]);
  await sql`alter table elsewhere rename to response_item`.execute(db);
  await items.store("ana", [item("b")]);
  expect(await stored()).toEqual(["b"]);
});
