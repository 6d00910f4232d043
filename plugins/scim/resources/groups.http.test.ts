import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { App } from "#test/support/app.ts";
import { groupSchema, refused, type ScimClient, scimClient, startScim } from "../scim.fixture.ts";

// protocols.md A, groups and their members.

let app: App;
let provider: ScimClient;
let a: string;
let b: string;
let c: string;
let count = 0;

beforeAll(async () => {
  app = await startScim();
  await app.admin();
  provider = scimClient(app.url);
  [a, b, c] = (await Promise.all(
    ["a", "b", "c"].map(async (name) => (await provider.user(`${name}@x.test`, { displayName: name })).id),
  )) as [string, string, string];
});

afterAll(() => app?.close());

const make = async (...members: string[]) =>
  (await provider.group(`Group ${(count += 1)}`, members)).id as string;
const idsOf = (body: { members: { value: string }[] }) => body.members.map(({ value }) => value).toSorted();
const patched = async (id: string, ...operations: object[]) => {
  const answer = await provider.patch(`/Groups/${id}`, ...operations);
  expect([answer.status, answer.text]).toEqual([200, expect.any(String)]);
  expect((await provider.call(`GET /Groups/${id}`)).body).toEqual(answer.body);
  return answer.body;
};
const sorted = (...ids: string[]) => ids.toSorted();

describe("a group", () => {
  it("is created with members and read as created (S67, D.27)", async () => {
    const answer = await provider.call("POST /Groups", {
      schemas: [groupSchema],
      displayName: "Makers",
      externalId: "g-1",
      members: [{ value: a, display: "whatever" }],
    });
    expect([answer.status, answer.body]).toEqual([
      201,
      {
        schemas: [groupSchema],
        id: expect.any(String),
        displayName: "Makers",
        externalId: "g-1",
        members: [{ value: a, $ref: expect.stringContaining(`/Users/${a}`), type: "User", display: "a" }],
        meta: expect.objectContaining({ resourceType: "Group", location: answer.headers.get("location") }),
      },
    ]);
    expect((await provider.call(`GET /Groups/${answer.body.id}`)).body).toEqual(answer.body);
    expect((await provider.call(`GET /Users/${a}`)).body.groups).toEqual([
      { value: answer.body.id, $ref: answer.body.meta.location, display: "Makers", type: "direct" },
    ]);
    expect((await provider.group("Nobody")).members).toEqual([]);
  });

  it("needs a name of its own, and members that exist (S68, S69)", async () => {
    expect(refused(await provider.call("POST /Groups", { members: [] }))).toEqual([400, "invalidValue"]);
    // A provider finds both by `displayName eq "Makers"`, in which case does not count.
    for (const displayName of ["Makers", "mAKERS"]) {
      expect(refused(await provider.call("POST /Groups", { displayName }))).toEqual([409, "uniqueness"]);
    }
    expect(refused(await provider.call("POST /Groups", { displayName: "X", externalId: "g-1" }))).toEqual([
      409,
      "uniqueness",
    ]);
    for (const members of [[{ value: "nobody" }], [{ display: "a" }], [{ value: 5 }], "a-b-c"]) {
      expect(refused(await provider.call("POST /Groups", { displayName: "X", members }))).toEqual([
        400,
        "invalidValue",
      ]);
    }
    expect(await provider.find("Groups", 'displayName eq "X"')).toEqual([]);
  });

  it("is replaced whole (PUT)", async () => {
    const id = await make(a, b);
    const answer = await provider.call(`PUT /Groups/${id}`, {
      displayName: "Put",
      externalId: "put",
      members: [{ value: b }, { value: c }],
    });
    expect([answer.status, answer.body.displayName, answer.body.externalId, idsOf(answer.body)]).toEqual([
      200,
      "Put",
      "put",
      sorted(b, c),
    ]);
    const bare = await provider.call(`PUT /Groups/${id}`, { displayName: "Put" });
    expect([bare.body.externalId, bare.body.members]).toEqual([undefined, []]);
    expect(refused(await provider.call(`PUT /Groups/${id}`, { displayName: "Makers" }))).toEqual([
      409,
      "uniqueness",
    ]);
    expect((await provider.call(`PUT /Groups/${id}`, { displayName: "PUT" })).body.displayName).toBe("PUT");
    expect(refused(await provider.call("PUT /Groups/nothing", { displayName: "N" }))[0]).toBe(404);
  });

  it("is deleted, and its members stay (S74)", async () => {
    const id = await make(a);
    expect(await provider.call(`DELETE /Groups/${id}`)).toMatchObject({ status: 204, text: "" });
    for (const method of ["GET", "DELETE"]) {
      expect(refused(await provider.call(`${method} /Groups/${id}`))[0]).toBe(404);
    }
    expect((await provider.call(`GET /Users/${a}`)).status).toBe(200);
  });
});

describe("members", () => {
  it("are added, and twice is once (S140)", async () => {
    const id = await make(a);
    const add = { op: "add", path: "members", value: [{ value: b }, { value: c }] };
    expect(idsOf(await patched(id, add))).toEqual(sorted(a, b, c));
    expect(idsOf(await patched(id, add, add))).toEqual(sorted(a, b, c));
    expect(idsOf(await patched(await make(), { op: "Add", path: "members", value: { value: a } }))).toEqual([
      a,
    ]);
    expect(idsOf(await patched(await make(), { op: "add", value: { members: [{ value: a }] } }))).toEqual([
      a,
    ]);
  });

  it.each<[string, (id: string) => object]>([
    ["a filter (S142)", (id) => ({ op: "remove", path: `members[value eq "${id}"]` })],
    [
      "values of Entra's old form (S143)",
      (id) => ({ op: "Remove", path: "members", value: [{ value: id }] }),
    ],
    [
      "values of authentik",
      (id) => ({ op: "remove", path: "members", value: [{ value: id, type: "User" }] }),
    ],
    ["one value", (id) => ({ op: "remove", path: "members", value: { value: id } })],
    [
      "a filter behind the schema",
      (id) => ({ op: "remove", path: `${groupSchema}:members[value eq "${id}"]` }),
    ],
  ])("are taken out one by one by %s", async (_, remove) => {
    const id = await make(a, b);
    expect(idsOf(await patched(id, remove(a)))).toEqual([b]);
    expect(idsOf(await patched(id, remove(a)))).toEqual([b]);
    expect(idsOf(await patched(id, { op: "remove", path: "members", value: [] }))).toEqual([b]);
    expect((await patched(id, { op: "remove", path: "members" })).members).toEqual([]);
  });

  it("are replaced (S146)", async () => {
    const id = await make(a, b);
    expect(idsOf(await patched(id, { op: "replace", path: "members", value: [{ value: c }] }))).toEqual([c]);
    expect(
      idsOf(await patched(id, { op: "replace", value: { members: [{ value: a }, { value: a }] } })),
    ).toEqual([a]);
  });

  it("keep who they are", async () => {
    const id = await make(a);
    const path = `members[value eq "${a}"].value`;
    expect(refused(await provider.patch(`/Groups/${id}`, { op: "replace", path, value: b }))).toEqual([
      400,
      "mutability",
    ]);
    expect(
      refused(
        await provider.patch(
          `/Groups/${id}`,
          { op: "replace", path: "displayName", value: "Lost" },
          { op: "add", path: "members", value: [{ value: "nobody" }] },
        ),
      ),
    ).toEqual([400, "invalidValue"]);
    expect((await provider.call(`GET /Groups/${id}`)).body.displayName).not.toBe("Lost");
  });

  it("stay while a group is renamed as Okta does it (S147)", async () => {
    const id = await make(a);
    const body = await patched(id, { op: "replace", value: { id, displayName: `Renamed ${id}` } });
    expect([body.id, body.displayName, idsOf(body)]).toEqual([id, `Renamed ${id}`, [a]]);
    expect(
      refused(
        await provider.patch(`/Groups/${id}`, { op: "replace", value: { id: "other", displayName: "N" } }),
      ),
    ).toEqual([400, "mutability"]);
    expect(refused(await provider.patch(`/Groups/${id}`, { op: "remove", path: "displayName" }))).toEqual([
      400,
      "mutability",
    ]);
  });
});

describe("the record of administrators' actions", () => {
  it("names every change with its author, before and after", async () => {
    const admin = await app.admin();
    const user = await provider.user("audited@x.test", { displayName: "Audited" });
    await provider.patch(`/Users/${user.id}`, { op: "replace", value: { active: false } });
    await provider.patch(`/Users/${user.id}`, { op: "replace", value: { active: false } });
    await provider.call(`DELETE /Users/${user.id}`);
    const group = await make(a);
    await provider.patch(`/Groups/${group}`, { op: "replace", value: { displayName: "Audited group" } });
    await provider.call(`DELETE /Groups/${group}`);
    const records = async (id: string) =>
      (await admin.call(`GET /api/v1/audit?object_id=${id}`)).body.records.toReversed();
    const ofUser = await records(user.id);
    expect(
      ofUser.map((each: Record<string, unknown>) => [each["action"], each["actor_name"], each["actor_id"]]),
    ).toEqual(
      Array(3)
        .fill(null)
        .map((_, index) => [index === 0 ? "user.created" : "user.updated", "SCIM", null]),
    );
    expect(ofUser[1]).toMatchObject({
      before: { role: "user" },
      after: { role: "pending" },
      address: expect.any(String),
      request_id: expect.any(String),
    });
    expect((await records(group)).map(({ action }: { action: string }) => action)).toEqual([
      "group.created",
      "group.member_added",
      "group.updated",
      "group.deleted",
    ]);
  });
});
