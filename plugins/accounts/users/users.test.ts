import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { toCaller } from "../accounts.fixture.ts";
import { openPeople, type People } from "../people.fixture.ts";
import { ListQuery } from "./user-schema.ts";
import { createUsers, type Users } from "./users.ts";
import { listAllUsers, listUsers } from "./users-directory.ts";
import { findPicture, findSignIn, findUser, findUsers, type UserRow } from "./users-store.ts";

let people: People;
let users: Users;
let owner: UserRow;
let admin: UserRow;

beforeAll(async () => {
  people = await openPeople();
  const forgetGrants = async (tx: People["db"], id: string) => {
    await tx
      .deleteFrom("access_grant")
      .where("principal_type", "=", "user")
      .where("principal_id", "=", id)
      .execute();
  };
  users = createUsers({ ...people, forgetGrants });
  owner = await people.add("Owner", "admin");
  admin = await people.add("Second", "admin");
});

afterAll(() => people.database.close());

const query = (input: Record<string, unknown>) => ListQuery.parse(input);

describe("lists", () => {
  beforeAll(async () => {
    for (let at = 0; at < 35; at++) {
      await people.add(`Person${String(at).padStart(2, "0")}`);
    }
    await people.add("a_b%c");
  });

  it("come in pages of 30 that neither repeat nor skip", async () => {
    const first = await users.list(query({ query: "person", order_by: "name" }));
    const second = await users.list(query({ query: "person", order_by: "name", page: "2" }));
    expect([first.total, first.users.length, second.users.length]).toEqual([35, 30, 5]);
    const names = [...first.users, ...second.users].map((user) => user.name);
    expect(names).toEqual(names.toSorted());
    expect(new Set(names).size).toBe(35);
  });

  it("order downwards and by address, and start with the newest", async () => {
    const down = await users.list(query({ order_by: "email", direction: "desc" }));
    const emails = down.users.map((user) => user.email);
    expect(emails).toEqual(emails.toSorted().toReversed());
    expect((await users.list(query({}))).users[0]?.name).toBe("a_b%c");
  });

  it("take % and _ of a query literally, and match any letter case", async () => {
    expect((await users.list(query({ query: "A_B%" }))).users.map((user) => user.name)).toEqual(["a_b%c"]);
    expect((await users.search(query({ query: "OWNER@EXAMPLE" }))).users.map((user) => user.id)).toEqual([
      owner.id,
    ]);
    expect((await users.search(query({ query: "_" }))).total).toBe(1);
  });

  it("are read without what their answers do not carry", async () => {
    const rows = [
      ...(await listUsers(people.db, query({}))).rows,
      ...(await listAllUsers(people.db)),
      ...(await findUsers(people.db, [owner.id])),
      await findUser(people.db, owner.id),
      (await findSignIn(people.db, { id: owner.id }))?.user,
    ];
    for (const row of rows) {
      expect(row).toHaveProperty("name");
      for (const column of ["profile_image_url", "settings", "variables", "session_stamp"]) {
        expect(row).not.toHaveProperty(column);
      }
    }
  });

  it("hold no hash, stamp, setting or picture data", async () => {
    const listed = JSON.stringify([await users.all(), await users.search(query({}))]);
    expect(listed).not.toMatch(/password|session_stamp|settings|data:image|"variables"/);
    const [found] = (await users.search(query({ query: "owner" }))).users;
    expect(found).toMatchObject({ name: "Owner", role: "admin", is_active: false });
    expect(found).not.toHaveProperty("info");
  });

  it.each([{ page: "0" }, { page: "x" }, { order_by: "password" }, { direction: "up" }])(
    "refuse %j",
    (input) => {
      expect(() => query(input)).toThrowError();
    },
  );
});

describe("a change", () => {
  it("of the role ends all sessions at once and is announced", async () => {
    const user = await people.add("Riser", "pending");
    const before = await findSignIn(people.db, { id: user.id });
    people.announced.length = 0;
    const changed = await users.update(toCaller(owner), user.id, { role: "user" });
    expect(changed.role).toBe("user");
    expect((await findSignIn(people.db, { id: user.id }))?.stamp).not.toBe(before?.stamp);
    expect(people.announced).toContainEqual({ userId: user.id });
    const told = people.events.find(({ event }) => event === "user.role_updated");
    expect(told?.data).toMatchObject({ user_id: user.id, from: "pending", to: "user", by: owner.id });
  });

  it("of the name alone leaves sessions alone", async () => {
    const user = await people.add("Named");
    const before = await findSignIn(people.db, { id: user.id });
    await users.update(toCaller(owner), user.id, { name: "Renamed", role: "user", password: "" });
    const after = await findSignIn(people.db, { id: user.id });
    expect([after?.stamp, after?.user.name, after?.passwordHash]).toEqual([before?.stamp, "Renamed", "none"]);
  });

  it("of the password replaces the hash and ends sessions", async () => {
    const user = await people.add("Locked");
    const before = await findSignIn(people.db, { id: user.id });
    await users.update(toCaller(owner), user.id, { password: "a new secret" });
    const after = await findSignIn(people.db, { id: user.id });
    expect(await people.passwords.verify("a new secret", after?.passwordHash)).toBe(true);
    expect(after?.stamp).not.toBe(before?.stamp);
    expect(JSON.stringify(people.events)).not.toContain("a new secret");
  });

  it("of the address to a taken one changes nothing", async () => {
    const user = await people.add("Mover");
    const changes = { email: "OWNER@example.com", name: "Other" };
    await expect(users.update(toCaller(owner), user.id, changes)).rejects.toMatchObject({ code: "conflict" });
    expect((await findUser(people.db, user.id))?.name).toBe("Mover");
    await users.update(toCaller(owner), user.id, { email: "Moved@Example.com" });
    expect((await findSignIn(people.db, { email: "moved@example.com" }))?.user.id).toBe(user.id);
  });

  it("keeps the picture when the form sends back where it is answered", async () => {
    const user = await people.add("Pictured");
    const address = "https://pictures.example/p.png";
    await users.update(toCaller(owner), user.id, { profile_image_url: address });
    const { profile_image_url } = await users.update(toCaller(owner), user.id, { name: "Pictured" });
    await users.update(toCaller(owner), user.id, { profile_image_url });
    expect(await findPicture(people.db, user.id)).toBe(address);
    const svg = { profile_image_url: "data:image/svg+xml;base64,PHN2Zy8+" };
    await expect(users.update(toCaller(owner), user.id, svg)).rejects.toMatchObject({ code: "invalid" });
  });

  it("of nobody is not found", async () => {
    await expect(users.update(toCaller(owner), "nobody", {})).rejects.toMatchObject({ code: "not_found" });
    await expect(users.require("nobody")).rejects.toMatchObject({ code: "not_found" });
  });
});

describe("the primary administrator", () => {
  it("is edited by nobody else", async () => {
    const attempt = users.update(toCaller(admin), owner.id, { name: "Mine" });
    await expect(attempt).rejects.toMatchObject({ code: "forbidden" });
    expect((await users.update(toCaller(owner), owner.id, { name: "Owner" })).name).toBe("Owner");
  });

  it("stays administrator, also by their own wish", async () => {
    const attempt = users.update(toCaller(owner), owner.id, { role: "user" });
    await expect(attempt).rejects.toMatchObject({ code: "forbidden" });
  });

  it("cannot be deleted", async () => {
    await expect(users.remove(toCaller(admin), owner.id)).rejects.toMatchObject({ code: "forbidden" });
  });
});

describe("deleting an account", () => {
  it("is refused to the account itself", async () => {
    await expect(users.remove(toCaller(admin), admin.id)).rejects.toMatchObject({ code: "forbidden" });
  });

  it("takes sign-in, key, memberships and grants along", async () => {
    const { db } = people;
    const user = await people.add("Leaver");
    const now = 1;
    const key = {
      id: `key_${user.id}`,
      user_id: user.id,
      key: "hash",
      hint: "last",
      data: null,
      expires_at: null,
    };
    await db
      .insertInto("api_key")
      .values({ ...key, last_used_at: null, created_at: now, updated_at: now })
      .execute();
    await db
      .insertInto("group")
      .values({ id: "g", user_id: owner.id, name: "G", created_at: now, updated_at: now })
      .execute();
    await db
      .insertInto("group_member")
      .values({ group_id: "g", user_id: user.id, created_at: now })
      .execute();
    const grant = {
      resource_type: "model",
      resource_id: "m",
      principal_type: "user",
      permission: "read",
    } as const;
    await db
      .insertInto("access_grant")
      .values({ ...grant, principal_id: user.id, created_at: now })
      .execute();
    people.announced.length = 0;

    await users.remove(toCaller(owner), user.id);

    const left = await Promise.all([
      findSignIn(db, { id: user.id }),
      db.selectFrom("auth").select("id").where("id", "=", user.id).executeTakeFirst(),
      db.selectFrom("api_key").select("id").where("user_id", "=", user.id).executeTakeFirst(),
      db.selectFrom("group_member").select("user_id").where("user_id", "=", user.id).executeTakeFirst(),
      db.selectFrom("access_grant").select("id").where("principal_id", "=", user.id).executeTakeFirst(),
    ]);
    expect(left).toEqual([undefined, undefined, undefined, undefined, undefined]);
    expect(people.announced).toContainEqual({ userId: user.id });
    expect(people.events.at(-1)).toMatchObject({ event: "user.deleted", data: { user_id: user.id } });
    await expect(users.remove(toCaller(owner), user.id)).rejects.toMatchObject({ code: "not_found" });
  });
});
