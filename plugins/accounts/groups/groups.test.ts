import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createGroups, type Groups } from "./groups.ts";
import { toCaller } from "../accounts.fixture.ts";
import { openPeople, type People } from "../people.fixture.ts";
import { GroupForm, GroupUpdate, type ShareRule } from "../users/user-schema.ts";
import type { UserRow } from "../users/users-store.ts";

let people: People;
let groups: Groups;
let admin: UserRow;
let ann: UserRow;
let bob: UserRow;
let defaultShare: ShareRule = "members";

beforeAll(async () => {
  people = await openPeople();
  groups = createGroups({
    ...people,
    defaultShare: () => defaultShare,
    forgetGrants: async (tx, id) => {
      await tx
        .deleteFrom("access_grant")
        .where("principal_type", "=", "group")
        .where("principal_id", "=", id)
        .execute();
    },
  });
  admin = await people.add("Admin", "admin");
  ann = await people.add("Ann");
  bob = await people.add("Bob");
});

afterAll(() => people.database.close());

beforeEach(async () => {
  await people.db.deleteFrom("group").execute();
  people.announced.length = 0;
  people.events.length = 0;
  defaultShare = "members";
});

async function make(form: Record<string, unknown>) {
  return await groups.create(toCaller(admin), GroupForm.parse({ description: "", ...form }));
}

const namesOf = (found: { name: string }[]) => found.map(({ name }) => name);

describe("members", () => {
  it("are added once, counted, listed, exported and taken out", async () => {
    const { id } = await make({ name: "Team" });
    const added = await groups.addMembers(toCaller(admin), id, [ann.id, bob.id, ann.id]);
    expect(added.member_count).toBe(2);
    expect(namesOf(await groups.members(id))).toEqual(["Ann", "Bob"]);
    expect((await groups.export(id)).user_ids.toSorted()).toEqual([ann.id, bob.id].toSorted());
    expect(namesOf(await groups.ofUser(ann.id))).toEqual(["Team"]);
    expect((await groups.removeMembers(toCaller(admin), id, [ann.id])).member_count).toBe(1);
    expect(await groups.ofUser(ann.id)).toEqual([]);
  });

  it("are announced when they come and go, but not when nothing changes", async () => {
    const { id } = await make({ name: "Team" });
    await groups.addMembers(toCaller(admin), id, [ann.id]);
    expect(people.announced).toEqual([{ userId: ann.id }]);
    people.announced.length = 0;
    await groups.addMembers(toCaller(admin), id, [ann.id]);
    await groups.removeMembers(toCaller(admin), id, [bob.id]);
    expect(people.events.map(({ event }) => event)).toEqual(["group.created", "group.member_added"]);
    await groups.removeMembers(toCaller(admin), id, [ann.id]);
    expect(people.announced).toContainEqual({ userId: ann.id });
  });

  it("have to exist; one that does not refuses the whole request", async () => {
    const { id } = await make({ name: "Team" });
    const attempt = groups.addMembers(toCaller(admin), id, [ann.id, "nobody"]);
    await expect(attempt).rejects.toMatchObject({
      code: "invalid",
      detail: expect.stringContaining("nobody"),
    });
    expect(await groups.members(id)).toEqual([]);
    await expect(groups.addMembers(toCaller(admin), "none", [ann.id])).rejects.toMatchObject({
      code: "not_found",
    });
  });
});

describe("who sees which group", () => {
  beforeEach(async () => {
    for (const [name, share] of [
      ["Open", true],
      ["Members", "members"],
      ["Closed", false],
    ] as const) {
      const { id } = await make({ name, data: { config: { share } } });
      if (name !== "Open") {
        await groups.addMembers(toCaller(admin), id, [ann.id]);
      }
    }
  });

  it.each([
    ["an admin", () => admin, undefined, ["Closed", "Members", "Open"]],
    ["an admin that shares", () => admin, true, ["Closed", "Members", "Open"]],
    ["a member", () => ann, undefined, ["Closed", "Members", "Open"]],
    ["a member that shares", () => ann, true, ["Members", "Open"]],
    ["a member, own groups", () => ann, false, ["Closed", "Members"]],
    ["somebody else", () => bob, undefined, ["Open"]],
    ["somebody else that shares", () => bob, true, ["Open"]],
  ])("%s", async (_who, user, share, names) => {
    expect(namesOf(await groups.list(toCaller(user()), share))).toEqual(names);
  });

  it("shows permissions and rules to admins alone", async () => {
    const [shown] = await groups.list(toCaller(ann));
    expect(Object.keys(shown ?? {}).toSorted()).toEqual([
      "created_at",
      "description",
      "id",
      "member_count",
      "name",
      "updated_at",
    ]);
    expect((await groups.list(toCaller(admin)))[0]).toHaveProperty("permissions");
  });

  it("hides a group from those it is not for", async () => {
    const closed = (await groups.list(toCaller(admin))).find(({ name }) => name === "Closed");
    await expect(groups.info(toCaller(bob), closed?.id ?? "")).rejects.toMatchObject({ code: "not_found" });
    expect((await groups.info(toCaller(ann), closed?.id ?? "")).member_count).toBe(1);
  });
});

describe("a group", () => {
  it("starts with the instance's share rule", async () => {
    defaultShare = false;
    expect((await make({ name: "A" })).data).toEqual({ config: { share: false } });
    expect((await make({ name: "B", data: { config: { share: true } } })).data).toEqual({
      config: { share: true },
    });
  });

  it("is patched: what is left out stays", async () => {
    const { id } = await make({ name: "A", description: "old", permissions: { features: { notes: true } } });
    const changed = await groups.update(toCaller(admin), id, { data: { config: { share: true } } });
    expect(changed).toMatchObject({ name: "A", description: "old", data: { config: { share: true } } });
    expect(changed.permissions).toEqual({ features: { notes: true } });
    expect((await groups.update(toCaller(admin), id, { permissions: null })).permissions).toBeNull();
  });

  it("announces a change of its permissions to everybody", async () => {
    const { id } = await make({ name: "A" });
    await groups.update(toCaller(admin), id, { description: "new" });
    expect(people.announced).toEqual([]);
    await groups.update(toCaller(admin), id, { permissions: { features: { notes: true } } });
    expect(people.announced).toContainEqual({ all: true });
  });

  it("has a name of its own", async () => {
    const { id } = await make({ name: "A" });
    await make({ name: "B" });
    await expect(make({ name: "A" })).rejects.toMatchObject({ code: "conflict" });
    await expect(groups.update(toCaller(admin), id, { name: "B" })).rejects.toMatchObject({
      code: "conflict",
    });
    expect((await groups.update(toCaller(admin), id, { name: "A" })).name).toBe("A");
  });

  it("gets its name once, however many ask for it at the same time", async () => {
    const tries = await Promise.allSettled(Array.from({ length: 8 }, () => make({ name: "Race" })));
    expect(tries.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  });

  it("takes its memberships and grants along", async () => {
    const { id } = await make({ name: "A" });
    await groups.addMembers(toCaller(admin), id, [ann.id]);
    const grant = {
      resource_type: "model",
      resource_id: "m",
      principal_type: "group",
      permission: "read",
    } as const;
    await people.db
      .insertInto("access_grant")
      .values({ ...grant, principal_id: id, created_at: 1 })
      .execute();
    people.announced.length = 0;
    await groups.remove(toCaller(admin), id);
    expect(await people.db.selectFrom("group_member").selectAll().execute()).toEqual([]);
    expect(await people.db.selectFrom("access_grant").selectAll().execute()).toEqual([]);
    expect(people.announced).toContainEqual({ all: true });
    await expect(groups.require(id)).rejects.toMatchObject({ code: "not_found" });
    await expect(groups.remove(toCaller(admin), id)).rejects.toMatchObject({ code: "not_found" });
  });
});

it.each([
  [{ name: "" }],
  [{ name: "A", permissions: { features: { notes: "yes" } } }],
  [{ name: "A", permissions: { "Not a section": {} } }],
  [{ name: "A", permissions: [] }],
  [{ name: "A", data: { config: { share: "nobody" } } }],
])("refuses the form %j", (form) => {
  expect(GroupForm.safeParse(form).success).toBe(false);
});

it("drops what is no field of a form", () => {
  const form = {
    name: "A",
    id: "mine",
    user_id: "x",
    member_count: 9,
    data: { secret: 1, config: { share: true, more: 1 } },
  };
  expect(GroupUpdate.parse(form)).toEqual({ name: "A", data: { config: { share: true } } });
});
