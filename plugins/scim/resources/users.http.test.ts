import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { App } from "#test/support/app.ts";
import { refused, type ScimClient, scimClient, startScim, userSchema } from "../scim.fixture.ts";

// protocols.md A, creating, reading, replacing and deleting; contract D.26.

let app: App;
let provider: ScimClient;

beforeAll(async () => {
  app = await startScim();
  await app.admin();
  provider = scimClient(app.url);
});

afterAll(() => app?.close());

const ana = {
  schemas: [userSchema],
  userName: "ana@x.test",
  externalId: "e-ana",
  name: { givenName: "Ana", familyName: "Lima" },
  displayName: "Ana Lima",
  emails: [{ value: "ana@x.test", type: "work", primary: true }],
  active: true,
};

describe("a user", () => {
  it("is created, read as created, and an account that may sign in (S33, S48)", async () => {
    const answer = await provider.call("POST /Users", ana);
    expect(answer.status).toBe(201);
    expect(answer.body).toEqual({
      ...ana,
      id: expect.any(String),
      groups: [],
      meta: {
        resourceType: "User",
        created: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        lastModified: expect.any(String),
        location: answer.headers.get("location"),
      },
    });
    const read = await provider.call(`GET /Users/${answer.body.id}`);
    expect([read.status, read.body]).toEqual([200, answer.body]);
    const admin = await app.admin();
    const account = await admin.call(`GET /api/v1/users/${answer.body.id}`);
    expect(account.body).toMatchObject({ name: "Ana Lima", email: "ana@x.test", role: "user" });
  });

  it("is created once, by userName and by externalId (S34)", async () => {
    expect(refused(await provider.call("POST /Users", { ...ana, externalId: "e-2" }))).toEqual([
      409,
      "uniqueness",
    ]);
    expect(
      refused(await provider.call("POST /Users", { ...ana, userName: "ANA@X.test", externalId: "e-2" })),
    ).toEqual([409, "uniqueness"]);
    expect(
      refused(await provider.call("POST /Users", { userName: "an2@x.test", externalId: "e-ana" })),
    ).toEqual([409, "uniqueness"]);
    expect(await provider.find("Users", 'userName sw "an"')).toEqual(["ana@x.test"]);
  });

  it("is created once by many at the same time", async () => {
    const answers = await Promise.all(
      Array.from({ length: 8 }, () =>
        provider.call("POST /Users", { userName: "race@x.test", externalId: "race" }),
      ),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, ...Array(7).fill(409)]);
  });

  it.each([
    [{}],
    [{ userName: null }],
    [{ userName: "not-an-email" }],
    [{ userName: "a b@x.test" }],
    [{ userName: `${"a".repeat(400)}@x.test` }],
    [{ userName: "long@x.test", displayName: "x".repeat(201) }],
  ])("needs a userName that is an e-mail address: %o (S37, S38)", async (body) => {
    expect(refused(await provider.call("POST /Users", body))).toEqual([400, "invalidValue"]);
  });

  it("may come with more than is kept (S41)", async () => {
    const more = {
      nickName: "Bo",
      title: "Engineer",
      roles: [{ value: "admin" }],
      phoneNumbers: [{ value: "+49", type: "work" }],
      "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User": { employeeNumber: "7" },
      role: "admin",
    };
    const user = await provider.user("bo@x.test", more);
    expect(Object.keys(user).toSorted()).toEqual([
      "active",
      "emails",
      "groups",
      "id",
      "meta",
      "schemas",
      "userName",
    ]);
    const admin = await app.admin();
    expect((await admin.call(`GET /api/v1/users/${user.id}`)).body).toMatchObject({ role: "user" });
  });

  it("starts switched off when told so", async () => {
    const { id, active } = await provider.user("off@x.test", { active: "False" });
    expect(active).toBe(false);
    const admin = await app.admin();
    expect((await admin.call(`GET /api/v1/users/${id}`)).body).toMatchObject({ role: "pending" });
  });

  it("is found by no other id (S49)", async () => {
    for (const id of [crypto.randomUUID(), "5", "x".repeat(300), "%27%20or%201=1", "a%2Fb"]) {
      for (const method of ["GET", "PUT", "PATCH", "DELETE"]) {
        const body = {
          PUT: { userName: "z@x.test" },
          PATCH: {
            schemas: ["urn:ietf:params:scim:api:messages:2.0:PatchOp"],
            Operations: [{ op: "replace", value: { active: false } }],
          },
        }[method];
        expect([method, id, ...refused(await provider.call(`${method} /Users/${id}`, body))]).toEqual([
          method,
          id,
          404,
          undefined,
        ]);
      }
    }
    expect(await provider.find("Users", 'userName eq "z@x.test"')).toEqual([]);
  });

  it("is replaced whole; what is left out is gone, but not its state (S51)", async () => {
    const { id } = await provider.user("rep@x.test", { displayName: "Rep", externalId: "r1" });
    const put = (body: object) => provider.call(`PUT /Users/${id}`, { schemas: [userSchema], ...body });
    const whole = await put({
      id: "another",
      userName: "rep@x.test",
      password: "secret-secret",
      displayName: "Re Placed",
      name: { givenName: "Re", familyName: "Placed" },
      externalId: "r2",
      active: false,
    });
    expect(whole.status).toBe(200);
    expect(whole.body).toMatchObject({ id, displayName: "Re Placed", externalId: "r2", active: false });
    const bare = await put({ userName: "rep@x.test" });
    expect(bare.body).toMatchObject({ id, userName: "rep@x.test", active: false });
    expect([bare.body.externalId, bare.body.displayName, bare.body.name]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    expect(refused(await put({ userName: "ana@x.test" }))).toEqual([409, "uniqueness"]);
    expect(refused(await put({ userName: "rep@x.test", externalId: "e-ana" }))).toEqual([409, "uniqueness"]);
    expect(refused(await put({ displayName: "x" }))).toEqual([400, "invalidValue"]);
  });

  it("is an account made elsewhere as well", async () => {
    const person = await app.user();
    expect((await provider.call(`GET /Users/${person.id}`)).body).toMatchObject({
      userName: person.email,
      displayName: person.name,
      name: { formatted: person.name, givenName: "Person" },
      emails: [{ value: person.email, type: "work", primary: true }],
      active: true,
    });
  });
});

describe("deleting a user (D.26; S56, S57, S58)", () => {
  it("ends what it can do, keeps what it has, and leaves the view until it comes back clean", async () => {
    const admin = await app.admin();
    const person = await app.user();
    const key = await person.call("POST /api/v1/auths/api_key");
    const chat = await person.call("POST /api/v1/chats/new", {
      chat: { title: "Kept", models: [], history: { messages: {}, currentId: null } },
    });
    const group = await provider.group("Leaving", [person.id]);
    await provider.patch(`/Users/${person.id}`, { op: "add", path: "externalId", value: "gone" });
    const { body: before } = await provider.call("GET /Users?count=0");

    expect(await provider.call(`DELETE /Users/${person.id}`)).toMatchObject({ status: 204, text: "" });
    for (const credential of [person.token, key.body.api_key]) {
      if (typeof credential === "string") {
        expect((await app.call("GET /api/v1/auths/", { token: credential })).status).toBe(401);
      }
    }
    expect(refused(await provider.call(`GET /Users/${person.id}`))[0]).toBe(404);
    expect(refused(await provider.call(`DELETE /Users/${person.id}`))[0]).toBe(404);
    expect((await provider.call("GET /Users?count=0")).body.totalResults).toBe(before.totalResults - 1);
    expect(await provider.find("Users", `id eq "${person.id}"`)).toEqual([]);
    expect((await provider.call(`GET /Groups/${group.id}`)).body.members).toEqual([]);
    const account = await admin.call(`GET /api/v1/users/${person.id}`);
    expect(account.body).toMatchObject({ email: person.email, role: "pending" });

    const again = await provider.user(person.email.toUpperCase(), { displayName: "Back" });
    expect(again).toMatchObject({ id: person.id, displayName: "Back", active: true, groups: [] });
    expect(again.externalId).toBeUndefined();
    expect((await person.call("GET /api/v1/auths/")).status).toBe(401);
    if (chat.status === 200) {
      const rows = await app.running.database.query(`select id from chat where id = '${chat.body.id}'`);
      expect(JSON.stringify(rows)).toContain(chat.body.id);
    }
  });
});

describe("administrators", () => {
  it("may be switched off, but neither the last nor the primary one (D.27)", async () => {
    const first = await app.admin();
    expect(
      refused(await provider.patch(`/Users/${first.id}`, { op: "replace", path: "active", value: false })),
    ).toEqual([400, "mutability"]);
    expect(refused(await provider.call(`DELETE /Users/${first.id}`))).toEqual([400, "mutability"]);
    expect((await first.call("GET /api/v1/auths/")).status).toBe(200);

    const others = [await app.user("admin"), await app.user("admin")];
    const answers = await Promise.all(
      [first, ...others].map(({ id }) =>
        provider.patch(`/Users/${id}`, { op: "replace", value: { active: false } }),
      ),
    );
    expect(answers.slice(1).map(({ status }) => status)).toEqual([200, 200]);
    // Refused as the primary one, or as the last one where the others were faster.
    expect([400, 403]).toContain(answers[0]?.status);
    const left = await app.running.database.query(`select id from "user" where role = 'admin'`);
    expect(left.rows).toEqual([{ id: first.id }]);
  });

  it("stay primary against every call that would switch them off or delete them", async () => {
    const first = await app.admin();
    await app.user("admin");
    const { body: record } = await provider.call(`GET /Users/${first.id}`);
    const answers = [
      await provider.patch(`/Users/${first.id}`, { op: "replace", path: "active", value: false }),
      await provider.call(`PUT /Users/${first.id}`, { ...record, active: false }),
      await provider.call(`DELETE /Users/${first.id}`),
    ];
    expect(answers.map((answer) => refused(answer)[0])).toEqual([403, 403, 403]);
    expect((await first.call("GET /api/v1/auths/")).body).toMatchObject({
      role: "admin",
    });
  });

  it("who were switched off come back as users, without the key they had", async () => {
    const admin = await app.admin();
    const person = await app.user("admin");
    const made = await person.call("POST /api/v1/auths/api_key");
    expect(made.status).toBe(200);
    const own = () => app.call("GET /api/v1/auths/", { token: made.body.api_key });
    expect((await own()).status).toBe(200);
    for (const value of [false, true]) {
      await provider.patch(`/Users/${person.id}`, { op: "replace", path: "active", value });
    }
    expect((await own()).status).toBe(401);
    expect((await admin.call(`GET /api/v1/users/${person.id}`)).body).toMatchObject({ role: "user" });
  });
});
