import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { App } from "#test/support/app.ts";
import { refused, type ScimClient, scimClient, startScim } from "../scim.fixture.ts";

// protocols.md A, lists, filters, sorting and projection.

let app: App;
let provider: ScimClient;
const people = ["ana", "ben", "cleo", "dora", "emil"];
const ids = new Map<string, string>();
let group: string;

beforeAll(async () => {
  app = await startScim();
  await app.admin();
  provider = scimClient(app.url);
  for (const [index, name] of people.entries()) {
    const user = await provider.user(`${name}@x.test`, {
      displayName: `${name.toUpperCase()} Müller`,
      name: { givenName: name, ...(index !== 2 && { familyName: "Müller" }) },
      externalId: `Ext-${index}`,
      active: index !== 3,
      emails: [
        { value: `${name}@x.test`, type: "work", primary: true },
        ...(index === 1 ? [{ value: "ben@home.test", type: "home" }] : []),
      ],
    });
    ids.set(name, user.id);
  }
  group = (
    await provider.group("Staff", [ids.get("ana") as string, ids.get("ben") as string], { externalId: "G1" })
  ).id;
  await provider.group("Others");
});

afterAll(() => app?.close());

const names = (found: string[]) => found.map((each) => each.split("@")[0] as string);
const find = async (filter: string) => names(await provider.find("Users", filter)).toSorted();
const list = (query: string) => provider.call(`GET /Users?${query}`);

describe("a page", () => {
  it("has numbers, and a start and a length that are possible (S77, S78, S79, S82)", async () => {
    expect((await list("startIndex=1&count=1")).body).toMatchObject({
      schemas: ["urn:ietf:params:scim:api:messages:2.0:ListResponse"],
      totalResults: 6,
      itemsPerPage: 1,
      startIndex: 1,
      Resources: [{}],
    });
    for (const start of ["0", "-3"]) {
      expect((await list(`startIndex=${start}&count=2`)).body).toMatchObject({
        startIndex: 1,
        itemsPerPage: 2,
      });
    }
    expect((await list("count=0")).body).toMatchObject({ itemsPerPage: 0, totalResults: 6, Resources: [] });
    expect((await list("count=-5")).body).toMatchObject({ itemsPerPage: 0, Resources: [] });
    expect((await list("startIndex=1000000000000")).body).toMatchObject({ totalResults: 6, Resources: [] });
    expect((await list("count=5000")).body).toMatchObject({ itemsPerPage: 6 });
    for (const query of ["count=many", "startIndex=1.5", "count=1&count=2"]) {
      expect(refused(await list(query))).toEqual([400, "invalidValue"]);
    }
  });

  it("neither repeats nor skips", async () => {
    const seen: string[] = [];
    for (let start = 1; start <= 6; start += 2) {
      seen.push(
        ...(await list(`startIndex=${start}&count=2`)).body.Resources.map(({ id }: { id: string }) => id),
      );
    }
    expect(new Set(seen).size).toBe(6);
  });

  it("comes by .search as well (RFC 7644, 3.4.3)", async () => {
    const answer = await provider.call("POST /Users/.search", {
      schemas: ["urn:ietf:params:scim:api:messages:2.0:SearchRequest"],
      filter: 'userName sw "ben"',
      attributes: ["userName"],
      startIndex: 1,
      count: 5,
    });
    expect([answer.status, answer.body.Resources]).toEqual([
      200,
      [{ schemas: expect.any(Array), id: ids.get("ben"), userName: "ben@x.test" }],
    ]);
    const search = (path: string, body: object) => provider.call(`POST ${path}.search`, body);
    const schemas = ["urn:ietf:params:scim:api:messages:2.0:SearchRequest"];
    expect(refused(await search("/Groups/", { schemas, filter: "nonsense" }))).toEqual([
      400,
      "invalidFilter",
    ]);
    expect(refused(await search("/Groups/", { filter: "displayName pr" }))).toEqual([400, "invalidSyntax"]);
  });

  it("of every kind takes attributes that a kind lacks for empty ones (RFC 7644, 3.4.2.1)", async () => {
    const search = async (filter: string) => {
      const schemas = ["urn:ietf:params:scim:api:messages:2.0:SearchRequest"];
      const { body } = await provider.call("POST /.search", { schemas, filter });
      return body.Resources.map((each: Record<string, string>) => each["userName"] ?? each["displayName"]);
    };
    expect(await search('userName eq "ben@x.test" or members pr')).toEqual(["ben@x.test", "Staff"]);
    expect(await search('nothing eq "a"')).toEqual([]);
    expect(await search('displayName eq "Staff" and not (nothing pr or emails pr)')).toEqual(["Staff"]);
  });
});

describe("a filter", () => {
  it.each<[string, string[]]>([
    ['userName eq "ANA@X.TEST"', ["ana"]],
    ['userName eq "nobody@x.test"', []],
    ['userName ne "ana@x.test" and userName co "@X.test"', ["ben", "cleo", "dora", "emil"]],
    ['userName co "E"  and userName ew "X.TEST" and userName sw "e"', ["emil"]],
    ['externalId eq "Ext-1"', ["ben"]],
    ['externalId eq "ext-1"', []],
    ["externalId pr and not (active eq true)", ["dora"]],
    ['active eq "False"', ["dora"]],
    ['name.familyName eq "MÜLLER" and name.givenName gt "cleo"', ["dora", "emil"]],
    ["externalId pr and not (name.familyName pr)", ["cleo"]],
    ["name.familyName eq null and externalId pr", ["cleo"]],
    ['emails.value eq "ben@home.test"', ["ben"]],
    ['emails[type eq "home" and value co "ben"]', ["ben"]],
    ['emails[type eq "home"].value eq "BEN@home.test"', ["ben"]],
    ['emails[type eq "work"].value eq "ben@home.test"', []],
    ['emails[type eq "work"] and emails.value eq "ben@home.test"', ["ben"]],
    [
      'externalId pr and not (emails[primary eq true].value co "b" or emails[type eq "home"].value pr)',
      ["ana", "cleo", "dora", "emil"],
    ],
    ['emails[type eq "work" and value co "home"]', []],
    ['emails co "home"', ["ben"]],
    ['groups.display eq "staff"', ["ana", "ben"]],
    ['groups[value eq "nothing"]', []],
    ["title pr", []],
    ['not (title pr) and externalId eq "Ext-0"', ["ana"]],
    ['urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:employeeNumber eq "7"', []],
    ['urn:ietf:params:scim:schemas:core:2.0:User:name.givenName sw "em"', ["emil"]],
    [
      'meta.created gt "2020-01-01T00:00:00Z" and meta.resourceType eq "User" and externalId pr and externalId lt "Ext-2"',
      ["ana", "ben"],
    ],
    ['meta.lastModified lt "2020-01-01T00:00:00+02:00"', []],
    ['userName EQ "ana@x.test" OR userName eq "ben@x.test" And active eq false', ["ana"]],
    ['(userName eq "ana@x.test" or userName eq "dora@x.test") and active eq false', ["dora"]],
    [`userName eq "x' or '1'='1"`, []],
    ['displayName eq "a\\"b\\\\"', []],
    ['schemas eq "urn:ietf:params:scim:schemas:core:2.0:User" and externalId eq "Ext-4"', ["emil"]],
  ])("%s finds %o", async (filter, expected) => {
    expect(await find(filter)).toEqual(expected);
  });

  it.each([
    "ANA@X.TEST",
    "userName eq",
    "userName eq bare",
    'userName zz "a"',
    '(userName eq "a"',
    'emails[type eq "work"',
    'userName eq "a" and',
    'nothing eq "a"',
    'role eq "admin"',
    "password2 pr",
    'emails.secret eq "x"',
    'emails[type eq "work"].secret eq "x"',
    'emails.part%value eq "x"',
    'name eq "x"',
    "userName eq 5",
    "userName eq true",
    "active gt true",
    'active co "t"',
    'meta.created co "2"',
    'meta.created gt "yesterday"',
    'userName eq "\\q"',
    "userName gt null",
    'emails[value eq "x"] or groups[display[value eq "x"]]',
    `${"(".repeat(60)}userName pr${")".repeat(60)}`,
    `${"not ".repeat(30)}(userName pr)`,
    `userName eq "${"x".repeat(9000)}"`,
    "constructor pr",
    "__proto__ pr",
    'userName eq "a"; drop table user',
    'scim.external_id eq "x"',
  ])("%s is refused (S89, S90, security case S109)", async (filter) => {
    expect(refused(await provider.call(`GET /Users?filter=${encodeURIComponent(filter)}`))).toEqual([
      400,
      "invalidFilter",
    ]);
  });

  it("finds groups", async () => {
    const groups = (filter: string) => provider.find("Groups", filter);
    expect(await groups('displayName eq "STAFF"')).toEqual(["Staff"]);
    expect(await groups('externalId eq "G1"')).toEqual(["Staff"]);
    expect(await groups(`members.value eq "${ids.get("ben")}"`)).toEqual(["Staff"]);
    expect(await groups(`members[value eq "${ids.get("ben")}" and display co "ANA"]`)).toEqual([]);
    expect(await groups("not (members pr)")).toEqual(["Others"]);
    expect(refused(await provider.call("GET /Groups?filter=userName+pr"))).toEqual([400, "invalidFilter"]);
  });
});

describe("an order", () => {
  const by = async (query: string) => names(await provider.find("Users", "externalId pr", `&${query}`));

  it("goes up or down; those without a value stand last, or first", async () => {
    expect(await by("sortBy=userName&sortOrder=descending")).toEqual(people.toReversed());
    expect((await by("sortBy=name.familyName")).at(-1)).toBe("cleo");
    expect((await by("sortBy=name.familyName&sortOrder=descending"))[0]).toBe("cleo");
    expect((await by("sortBy=meta.created")).toSorted()).toEqual(people);
    expect(await by("sortBy=urn:ietf:params:scim:schemas:core:2.0:User:externalId")).toEqual(people);
    expect((await by("sortBy=active"))[0]).toBe("dora");
  });

  it("is by one value that there is", async () => {
    expect(refused(await list("sortBy=nothing"))).toEqual([400, "invalidPath"]);
    expect(refused(await list("sortBy=emails"))).toEqual([400, "invalidPath"]);
    expect(refused(await list("sortBy=userName&sortOrder=sideways"))).toEqual([400, "invalidValue"]);
  });
});

describe("a projection (S108, S109)", () => {
  const keys = (body: object) => Object.keys(body).toSorted();

  it("picks attributes and parts; id and schemas stay", async () => {
    const id = ids.get("ana");
    expect(keys((await provider.call(`GET /Users/${id}?attributes=userName`)).body)).toEqual([
      "id",
      "schemas",
      "userName",
    ]);
    const part = (await provider.call(`GET /Users/${id}?attributes=name.givenName,emails.value`)).body;
    expect([part.name, part.emails, part.userName]).toEqual([
      { givenName: "ana" },
      [{ value: "ana@x.test" }],
      undefined,
    ]);
    const urn = "urn:ietf:params:scim:schemas:core:2.0:User";
    expect(keys((await provider.call(`GET /Users/${id}?attributes=${urn}:displayName`)).body)).toContain(
      "displayName",
    );
    expect(keys((await list("attributes=externalId&count=1")).body.Resources[0])).not.toContain("userName");
    const left = (
      await provider.call(`GET /Users/${id}?excludedAttributes=id,schemas,name.familyName,emails`)
    ).body;
    expect([left.id, left.name, left.emails]).toEqual([id, { givenName: "ana" }, undefined]);
    const made = await provider.call("POST /Users?attributes=userName", { userName: "proj@x.test" });
    expect([made.status, keys(made.body)]).toEqual([201, ["id", "schemas", "userName"]]);
  });

  it("leaves members out", async () => {
    for (const query of ["", "/"]) {
      const { body } = await provider.call(
        query === ""
          ? "GET /Groups?excludedAttributes=members"
          : `GET /Groups/${group}?excludedAttributes=members`,
      );
      for (const each of query === "" ? body.Resources : [body]) {
        expect(keys(each)).not.toContain("members");
        expect(each.displayName).toBeTruthy();
      }
    }
    expect((await provider.call(`GET /Groups/${group}`)).body.members).toHaveLength(2);
  });
});
