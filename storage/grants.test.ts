import type { Kysely } from "kysely";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { CoreTables, GrantPermission } from "./core-tables.ts";
import type { Database } from "./database.ts";
import {
  createGrants,
  granted,
  InvalidGrantError,
  type GrantInput,
  type GrantPrincipal,
  type Grants,
} from "./grants.ts";
import { describeKinds } from "./kinds.fixture.ts";
import { openTestDatabase } from "./testing.ts";

interface Tables extends CoreTables {
  thing: { id: string; user_id: string };
}

const grant = (principal: string, permission: GrantPermission = "read"): GrantInput => {
  const [type, id] = principal.split(":") as [GrantInput["principal_type"], string];
  return { principal_type: type, principal_id: id, permission };
};
const texts = (rows: readonly GrantInput[]) =>
  rows.map((row) => `${row.principal_type}:${row.principal_id} ${row.permission}`).toSorted();

const ann: GrantPrincipal = { userId: "ann", groupIds: ["staff"] };
const ben: GrantPrincipal = { userId: "ben", groupIds: [] };
const visitor: GrantPrincipal = { userId: null, groupIds: [] };

describeKinds("grants", (kind) => {
  let database: Database;
  let db: Kysely<Tables>;
  let grants: Grants;
  beforeAll(async () => {
    database = await openTestDatabase([], kind);
    db = database.db as Kysely<Tables>;
    grants = createGrants(database);
    await database.query("create table thing (id text primary key, user_id text not null)");
    const user = { role: "user" as const, last_active_at: 0, updated_at: 0, created_at: 0 };
    await db
      .insertInto("user")
      .values(["ann", "ben"].map((id) => ({ ...user, id, name: id, email: `${id}@example.org` })))
      .execute();
    await db
      .insertInto("group")
      .values({ id: "staff", name: "Staff", created_at: 0, updated_at: 0 })
      .execute();
  });
  afterAll(() => database.close());
  beforeEach(() => database.query("delete from access_grant; delete from thing"));

  const set = (type: string, id: string, ...list: GrantInput[]) =>
    database.transaction((tx) => grants.replace(tx, type, id, list));

  test.each<[string, string, GrantInput[], GrantPrincipal, GrantPermission, boolean]>([
    ["the named user reads", "note", [grant("user:ann")], ann, "read", true],
    ["another user does not", "note", [grant("user:ann")], ben, "read", false],
    ["read does not write", "note", [grant("user:ann")], ann, "write", false],
    ["write writes", "note", [grant("user:ann", "write")], ann, "write", true],
    ["write implies read", "note", [grant("user:ann", "write")], ann, "read", true],
    ["a member reads through the group", "note", [grant("group:staff")], ann, "read", true],
    ["a stranger to the group does not", "note", [grant("group:staff")], ben, "read", false],
    ["the star reaches every signed-in user", "note", [grant("user:*")], ben, "read", true],
    ["the star does not reach visitors", "note", [grant("user:*")], visitor, "read", false],
    [
      "the star does not reach visitors of shared chats",
      "shared_chat",
      [grant("user:*")],
      visitor,
      "read",
      false,
    ],
    ["anyone reaches visitors of shared chats", "shared_chat", [grant("anyone:*")], visitor, "read", true],
    ["anyone reaches signed-in users too", "shared_chat", [grant("anyone:*")], ben, "read", true],
    ["anyone never writes", "shared_chat", [grant("anyone:*")], ben, "write", false],
    ["anyone means nothing elsewhere", "note", [grant("anyone:*")], ann, "read", false],
    ["a user id is no group id", "note", [grant("user:staff")], ann, "read", false],
  ])("%s", async (_, type, list, principal, permission, expected) => {
    await set(type, "one", ...list);
    await set(type, "other");
    await database.query("insert into thing values ('one', 'carl'), ('other', 'carl')");
    const allowed = await grants.allowed(principal, permission, type, ["one", "other", "missing"]);
    expect([...allowed]).toEqual(expected ? ["one"] : []);
    const listed = await db
      .selectFrom("thing")
      .select("thing.id")
      .where((eb) => granted(eb, type, "thing.id", principal, permission))
      .execute();
    expect(listed.map((row) => row.id)).toEqual([...allowed]);
  });

  test("lists what is owned or granted in one query that can be paged", async () => {
    await database.query(
      "insert into thing select 't' || n, case when n % 2 = 0 then 'ann' else 'carl' end from generate_series(10, 29) n",
    );
    await set("thing", "t11", grant("group:staff"), grant("user:ann", "write"));
    const query = db
      .selectFrom("thing")
      .select("thing.id")
      .where((eb) => eb.or([eb("thing.user_id", "=", "ann"), granted(eb, "thing", "thing.id", ann, "read")]))
      .orderBy("thing.id")
      .limit(4);
    expect((await query.execute()).map((row) => row.id)).toEqual(["t10", "t11", "t12", "t14"]);
  });

  test("replace keeps what stays, drops duplicates, unknown groups and anyone outside shared chats", async () => {
    const before = await set("note", "n", grant("user:ann"), grant("user:ben"));
    const after = await set(
      "note",
      "n",
      grant("user:ann"),
      grant("user:ann"),
      grant("group:none"),
      grant("group:staff", "write"),
      grant("anyone:*"),
    );
    expect(texts(after)).toEqual(["group:staff write", "user:ann read"]);
    const idOf = (rows: typeof before) => rows.find((row) => row.principal_id === "ann")?.id;
    expect(idOf(after)).toBe(idOf(before));
    expect(after[0]).toMatchObject({
      id: expect.any(Number),
      resource_type: "note",
      resource_id: "n",
      created_at: expect.any(Number),
    });
    expect(await grants.list("note", ["n", "m"])).toEqual(after);
    expect(await set("note", "n")).toEqual([]);
  });

  test.each([
    [grant("anyone:*", "write")],
    [grant("anyone:ann")],
    [grant("group:*")],
    [grant("user:")],
    [{ ...grant("user:ann"), permission: "own" } as unknown as GrantInput],
    [{ ...grant("user:ann"), principal_type: "role" } as unknown as GrantInput],
  ])("replace rejects %j and changes nothing", async (bad) => {
    await set("shared_chat", "s", grant("user:ann"));
    await expect(set("shared_chat", "s", bad)).rejects.toThrow(InvalidGrantError);
    expect(texts(await grants.list("shared_chat", ["s"]))).toEqual(["user:ann read"]);
  });

  test.each([
    ["note", "anyone", "*", "read"],
    ["shared_chat", "anyone", "*", "write"],
    ["shared_chat", "anyone", "ann", "read"],
    ["note", "user", "ann", "own"],
    ["note", "role", "ann", "read"],
  ])("the table itself refuses %s %s %s %s", async (...values) => {
    const insert =
      "insert into access_grant (resource_type, resource_id, principal_type, principal_id, permission)";
    await expect(database.query(`${insert} values ($1, 'x', $2, $3, $4)`, values)).rejects.toThrow(
      /check constraint/,
    );
  });

  test("ten replacements at once leave the rows of exactly one", async () => {
    await Promise.all(
      Array.from({ length: 10 }, (_, turn) =>
        set("note", "race", grant(`user:u${turn}`), grant(`user:v${turn}`)),
      ),
    );
    const rows = await grants.list("note", ["race"]);
    expect(rows).toHaveLength(2);
    expect(new Set(rows.map((row) => row.principal_id.slice(1))).size).toBe(1);
  });

  test("announces a change when it is committed, and none that is rolled back", async () => {
    const heard: unknown[] = [];
    const arrived = Promise.withResolvers<void>();
    const stop = await database.listen("grants", (payload) => {
      heard.push(payload);
      if ((payload as { ids: string[] }).ids?.includes("last")) {
        arrived.resolve();
      }
    });
    await database
      .transaction(async (tx) => {
        await grants.replace(tx, "note", "undone", [grant("user:ann")]);
        throw new Error("back");
      })
      .catch(() => {});
    await set("note", "done", grant("user:ann"));
    await set("note", "last", grant("user:ann"));
    await arrived.promise;
    await stop();
    expect(heard).toEqual([
      { type: "note", ids: ["done"] },
      { type: "note", ids: ["last"] },
    ]);
  });

  test("forget removes the grants of deleted resources with the deletion", async () => {
    await set("note", "a", grant("user:ann"));
    await set("note", "b", grant("user:ann"));
    await set("file", "a", grant("user:ann"));
    await database.transaction((tx) => grants.forget(tx, "note", ["a"]));
    expect(await grants.list("note", ["a", "b"])).toHaveLength(1);
    expect(await grants.list("file", ["a"])).toHaveLength(1);
    const many = Array.from({ length: 3_000 }, (_, index) => `resource-${index}`);
    await database.transaction((tx) => grants.forget(tx, "note", many));
    await database.transaction((tx) => grants.forgetPrincipal(tx, "user", "ann"));
    expect(await grants.list("note", ["b"])).toEqual([]);
  });

  test("sweep removes strays of gone principals and resources only", async () => {
    await database.query("insert into thing values ('alive', 'ann')");
    for (const id of ["alive", "gone"]) {
      await set("thing", id, grant("user:ann"), grant("user:*"), grant("group:staff"));
    }
    await set("other", "unasked", grant("user:ann"), grant("user:ghost"));
    const find = async (ids: readonly string[]) =>
      (await db.selectFrom("thing").select("id").where("id", "in", ids).execute()).map((row) => row.id);
    expect(await grants.sweep({ thing: find })).toBe(4);
    expect(texts(await grants.list("thing", ["alive", "gone"]))).toEqual([
      "group:staff read",
      "user:* read",
      "user:ann read",
    ]);
    expect(texts(await grants.list("other", ["unasked"]))).toEqual(["user:ann read"]);
    expect(await grants.sweep({ thing: find })).toBe(0);
  });
});
