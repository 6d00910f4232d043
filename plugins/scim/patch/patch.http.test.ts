import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { App } from "#test/support/app.ts";
import { patchSchema, refused, type ScimClient, scimClient, startScim } from "../scim.fixture.ts";

// protocols.md A, PATCH: every form of path that identity providers send.

let app: App;
let provider: ScimClient;
let count = 0;

beforeAll(async () => {
  app = await startScim();
  await app.admin();
  provider = scimClient(app.url);
});

afterAll(() => app?.close());

const enterprise = "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User";
const core = "urn:ietf:params:scim:schemas:core:2.0:User";
const make = (more: object = {}) =>
  provider.user(`p${(count += 1)}@x.test`, { displayName: "Pat Ch", ...more });
const patched = async (id: string, ...operations: object[]) => {
  const answer = await provider.patch(`/Users/${id}`, ...operations);
  expect([answer.status, answer.text]).toEqual([200, expect.any(String)]);
  expect((await provider.call(`GET /Users/${id}`)).body).toEqual(answer.body);
  return answer.body;
};

describe("a user's state", () => {
  it.each<[string, object, object]>([
    ["Okta (S113)", { op: "replace", value: { active: false } }, { op: "replace", value: { active: true } }],
    [
      "Entra, old (S114)",
      { op: "Replace", path: "active", value: "False" },
      { op: "Replace", path: "active", value: "True" },
    ],
    [
      "Entra, new (S115)",
      { op: "replace", path: "active", value: false },
      { op: "replace", path: "active", value: true },
    ],
    [
      "Entra, oldest",
      { op: "Add", path: "active", value: [{ value: "False" }] },
      { op: "Add", path: "active", value: [{ value: "true" }] },
    ],
    [
      "OneLogin",
      { op: "replace", path: "active", value: [false] },
      { op: "replace", path: "active", value: [true] },
    ],
    [
      "Google",
      { op: "replace", value: { [`${core}:active`]: false } },
      { op: "replace", value: { [`${core}:active`]: true } },
    ],
    [
      "JumpCloud",
      { op: "replace", path: `${core}:active`, value: false },
      { op: "replace", path: `${core}:active`, value: true },
    ],
    [
      "a whole schema",
      { op: "replace", value: { [core]: { active: false } } },
      { op: "add", path: core, value: { active: true } },
    ],
  ])("changes as %s says it; the account stays listed (S64)", async (_, off, on) => {
    const { id, userName } = await make();
    expect((await patched(id, off)).active).toBe(false);
    expect(await provider.find("Users", `userName eq "${userName}" and active eq false`)).toEqual([userName]);
    expect((await patched(id, on)).active).toBe(true);
  });
});

describe("a user's attributes", () => {
  it("change by six operations of Entra's old form (S117)", async () => {
    const { id } = await make();
    const replace = (path: string, value: string) => ({ op: "Replace", path, value });
    expect(
      await patched(
        id,
        replace("displayName", "New Name"),
        replace('emails[type eq "work"].value', "new@mail.test"),
        replace("name.givenName", "New"),
        replace("name.familyName", "Name"),
        replace("externalId", "e-new"),
        replace(`${enterprise}:employeeNumber`, "77"),
      ),
    ).toMatchObject({
      displayName: "New Name",
      emails: [{ value: "new@mail.test", type: "work", primary: true }],
      name: { givenName: "New", familyName: "Name" },
      externalId: "e-new",
    });
  });

  it("change by dotted keys without a path (S118)", async () => {
    const { id } = await make();
    const body = await patched(
      id,
      { op: "replace", path: 'emails[type eq "work"].value', value: "dot@mail.test" },
      {
        op: "replace",
        value: {
          "name.givenName": "Dot",
          "name.familyName": "Ted",
          [`${enterprise}:employeeNumber`]: "5",
          [enterprise]: { department: "x" },
        },
      },
    );
    expect(body).toMatchObject({
      name: { givenName: "Dot", familyName: "Ted" },
      emails: [{ value: "dot@mail.test" }],
    });
    expect(JSON.stringify(body)).not.toContain("enterprise");
  });

  it("are stored by add, and shown at once (S121)", async () => {
    const { id } = await make();
    expect((await patched(id, { op: "add", path: "externalId", value: `e1-${id}` })).externalId).toBe(
      `e1-${id}`,
    );
  });

  it("move the login address along with the userName (S125)", async () => {
    const { id, userName } = await make();
    const body = await patched(id, { op: "replace", path: "userName", value: "Moved@X.test" });
    expect(body).toMatchObject({
      userName: "moved@x.test",
      emails: [{ value: "moved@x.test", primary: true }],
    });
    expect(await provider.find("Users", `userName eq "${userName}"`)).toEqual([]);
    expect(await provider.find("Users", 'userName eq "moved@x.test"')).toEqual(["moved@x.test"]);
    const other = await make();
    expect(
      refused(
        await provider.patch(`/Users/${other.id}`, {
          op: "replace",
          path: "userName",
          value: "moved@x.test",
        }),
      ),
    ).toEqual([409, "uniqueness"]);
    expect(
      refused(await provider.patch(`/Users/${other.id}`, { op: "replace", path: "userName", value: "x" })),
    ).toEqual([400, "invalidValue"]);
  });

  it("are created by add on a filter of equalities, never by replace (D.27)", async () => {
    const { id, userName } = await make();
    const body = await patched(id, {
      op: "add",
      path: 'emails[type eq "home" and primary eq "true"].value',
      value: "h@x.test",
    });
    expect(body.emails).toEqual([
      { value: userName, type: "work", primary: false },
      { value: "h@x.test", type: "home", primary: true },
    ]);
    const path = 'emails[type eq "other"].value';
    expect(refused(await provider.patch(`/Users/${id}`, { op: "replace", path, value: "o@x.test" }))).toEqual(
      [400, "noTarget"],
    );
    expect(
      refused(
        await provider.patch(`/Users/${id}`, {
          op: "add",
          path: 'emails[type ne "x" and type co "zz"].value',
          value: "o",
        }),
      ),
    ).toEqual([400, "noTarget"]);
    const left = await patched(id, { op: "remove", path: 'emails[type eq "work"]' });
    expect(left.emails).toHaveLength(1);
    expect((await patched(id, { op: "remove", path: "emails" })).emails).toBeUndefined();
  });

  it("go by remove, and by null", async () => {
    const { id } = await make({ name: { givenName: "A", familyName: "B" }, externalId: "gone" });
    const body = await patched(
      id,
      { op: "remove", path: "name.familyName" },
      { op: "Remove", path: "externalId" },
      { op: "replace", path: "displayName", value: null },
      { op: "remove", path: "title" },
    );
    expect([body.name, body.externalId, body.displayName]).toEqual([
      { givenName: "A" },
      undefined,
      undefined,
    ]);
    expect((await patched(id, { op: "remove", path: "name" })).name).toBeUndefined();
  });
});

describe("what does not fit", () => {
  it.each<[string, unknown, string]>([
    ["remove without a path (S127)", [{ op: "remove" }], "noTarget"],
    [
      "a broken filter in a path (S130)",
      [{ op: "replace", path: "emails[type eq", value: "x" }],
      "invalidPath",
    ],
    ["two dots (S130)", [{ op: "replace", path: "a..b", value: "x" }], "invalidPath"],
    ["an unknown attribute", [{ op: "replace", path: "nothing", value: "x" }], "invalidPath"],
    ["an unknown part", [{ op: "replace", path: "name.nothing", value: "x" }], "invalidPath"],
    [
      "a filter on one value",
      [{ op: "replace", path: 'displayName[value eq "x"]', value: "x" }],
      "invalidPath",
    ],
    ["an unknown schema", [{ op: "add", path: "urn:mine:1.0:User:x", value: "x" }], "invalidPath"],
    ["a role (S109)", [{ op: "replace", path: "role", value: "admin" }], "invalidPath"],
    ["a role without a path (S109)", [{ op: "replace", value: { role: "admin" } }], "invalidPath"],
    ["an owner (S109)", [{ op: "add", path: "owner", value: "x" }], "invalidPath"],
    ["another id", [{ op: "replace", path: "id", value: "x" }], "mutability"],
    ["another id without a path", [{ op: "replace", value: { id: "x" } }], "mutability"],
    ["groups", [{ op: "add", path: "groups", value: [{ value: "x" }] }], "mutability"],
    ["no userName", [{ op: "remove", path: "userName" }], "mutability"],
    ["no state", [{ op: "remove", path: "active" }], "mutability"],
    ["move (S132)", [{ op: "move", path: "active", value: true }], "invalidSyntax"],
    ["5 (S132)", [{ op: 5, value: {} }], "invalidSyntax"],
    ["no operation (S132)", [], "invalidSyntax"],
    ["no list (S132)", {}, "invalidSyntax"],
    ["no operations (S132)", undefined, "invalidSyntax"],
    ["add without a value (S132)", [{ op: "add", path: "displayName" }], "invalidValue"],
    ["a text without a path", [{ op: "add", value: "x" }], "invalidValue"],
    ["a path that is a number", [{ op: "add", path: 5, value: "x" }], "invalidPath"],
    ["a state that is none", [{ op: "replace", path: "active", value: "perhaps" }], "invalidValue"],
    [
      "two primary addresses",
      [{ op: "add", path: "emails", value: ["a", "b"].map((value) => ({ value, primary: true })) }],
      "invalidValue",
    ],
    ["too many operations", Array.from({ length: 10_001 }, () => ({ op: "replace", value: {} })), "tooMany"],
    [
      "a second that is wrong (S133)",
      [
        { op: "replace", path: "displayName", value: "Changed" },
        { op: "replace", path: "nothing", value: 1 },
      ],
      "invalidPath",
    ],
  ])("%s is refused whole", async (_, Operations, reason) => {
    const user = await make();
    const answer = await provider.call(`PATCH /Users/${user.id}`, { schemas: [patchSchema], Operations });
    expect(refused(answer)).toEqual([400, reason]);
    expect((await provider.call(`GET /Users/${user.id}`)).body).toEqual(user);
  });

  it("is a body without its schema (S132)", async () => {
    const { id } = await make();
    const Operations = [{ op: "replace", value: { active: false } }];
    for (const schemas of [undefined, [], ["urn:x"], patchSchema]) {
      expect(refused(await provider.call(`PATCH /Users/${id}`, { schemas, Operations }))).toEqual([
        400,
        "invalidSyntax",
      ]);
    }
  });
});
