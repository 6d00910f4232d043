import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { App } from "#test/support/app.ts";
import {
  base,
  refused,
  type ScimClient,
  scimClient,
  scimToken,
  startScim,
  userSchema,
} from "../scim.fixture.ts";

// protocols.md A, discovery, credentials and media types.

let app: App;
let provider: ScimClient;

beforeAll(async () => {
  app = await startScim();
  await app.admin();
  provider = scimClient(app.url);
});

afterAll(() => app?.close());

describe("discovery", () => {
  it("tells what the server offers (S1)", async () => {
    const { status, body, headers } = await provider.call("GET /ServiceProviderConfig");
    expect(status).toBe(200);
    expect(headers.get("content-type")).toMatch(/^application\/scim\+json/);
    expect(body).toMatchObject({
      schemas: ["urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig"],
      patch: { supported: true },
      bulk: { supported: false, maxOperations: 0, maxPayloadSize: 0 },
      filter: { supported: true, maxResults: 100 },
      changePassword: { supported: false },
      sort: { supported: true },
      etag: { supported: false },
      authenticationSchemes: [{ type: "oauthbearertoken", description: expect.any(String) }],
    });
  });

  it.each(["POST", "PUT", "PATCH", "DELETE"])(
    "refuses %s on it by 405, whatever the body (S3)",
    async (method) => {
      const answer = await provider.call(
        `${method} /ServiceProviderConfig`,
        method === "DELETE" ? undefined : "test",
      );
      expect(refused(answer)).toEqual([405, undefined]);
      expect(answer.headers.get("allow")).toBe("GET");
    },
  );

  it("lists and gives resource types (S6, S7)", async () => {
    expect((await provider.call("GET /ResourceTypes")).body).toMatchObject({
      schemas: ["urn:ietf:params:scim:api:messages:2.0:ListResponse"],
      totalResults: 2,
      Resources: [
        {
          id: "User",
          name: "User",
          endpoint: "/Users",
          schema: "urn:ietf:params:scim:schemas:core:2.0:User",
        },
        { id: "Group", name: "Group", endpoint: "/Groups" },
      ],
    });
    const one = await provider.call("GET /ResourceTypes/User");
    expect([one.status, one.body.id, one.body.schemas]).toEqual([
      200,
      "User",
      ["urn:ietf:params:scim:schemas:core:2.0:ResourceType"],
    ]);
    expect(refused(await provider.call("GET /ResourceTypes/Robot"))[0]).toBe(404);
  });

  it("lists and gives schemas, also its own (S9)", async () => {
    const { body } = await provider.call("GET /Schemas");
    const ids = body.Resources.map(({ id }: { id: string }) => id.split(":").at(-1));
    expect(ids).toEqual(["User", "Group", "ServiceProviderConfig", "ResourceType", "Schema"]);
    expect(body.Resources.every(({ attributes }: { attributes: unknown[] }) => attributes.length > 2)).toBe(
      true,
    );
    const one = await provider.call("GET /Schemas/urn:ietf:params:scim:schemas:core:2.0:Group");
    expect(one.body.attributes.map(({ name }: { name: string }) => name)).toContain("members");
    expect(refused(await provider.call("GET /Schemas/urn:nothing"))[0]).toBe(404);
  });

  it.each(["/ServiceProviderConfig", "/ResourceTypes", "/ResourceTypes/User", "/Schemas"])(
    "cannot be filtered: %s (RFC 7644, 4)",
    async (path) => {
      expect(refused(await provider.call(`GET ${path}?Filter=id+pr`))).toEqual([403, undefined]);
      expect((await provider.call(`GET ${path}?count=1&sortBy=id`)).status).toBe(200);
    },
  );

  it("has nothing else (S15, S25)", async () => {
    expect(refused(await provider.call(`GET /${crypto.randomUUID()}`))).toEqual([404, undefined]);
    expect(refused(await provider.call("POST /Bulk", {}))[0]).toBe(404);
    expect(refused(await provider.call("GET /"))[0]).toBe(404);
    const bare = await app.call("GET /scim/v2/Users", { token: scimToken, headers: { accept: "*/*" } });
    expect(bare.status).toBe(404);
    const page = await app.call("GET /scim/v2/Users", { token: scimToken, headers: { accept: "text/html" } });
    expect(page.status).toBe(404);
  });
});

describe("credentials", () => {
  const places = [
    "GET /Users",
    "GET /ServiceProviderConfig",
    "POST /Users",
    "GET /nothing",
    "PUT /Schemas",
    "GET /",
  ];

  it.each(places)("%s wants the token (S17, S18)", async (route) => {
    const stranger = scimClient(app.url, "");
    const wrong: (string | undefined)[] = [
      undefined,
      "non-token",
      scimToken,
      `Basic ${btoa(`scim:${scimToken}`)}`,
      "Bearer",
      `Bearer ${scimToken.slice(0, -1)}`,
      `Bearer ${scimToken}x`,
      `Bearer ${scimToken} x`,
      `Bearer ${(await app.admin()).token}`,
    ];
    for (const authorization of wrong) {
      const headers = { authorization: authorization ?? "" };
      // A broken body comes too late: the token is looked at first.
      const answer = await stranger.call(route, route.startsWith("GET") ? undefined : "{", headers);
      expect([authorization, ...refused(answer)]).toEqual([authorization, 401, undefined]);
      expect(answer.headers.get("www-authenticate")).toBe("Bearer");
    }
  });

  it("takes the scheme in any case", async () => {
    const headers = { authorization: `bearer ${scimToken}` };
    expect((await scimClient(app.url, "").call("GET /Users", undefined, headers)).status).toBe(200);
  });

  it("is good for nothing else (security case S109)", async () => {
    expect((await app.call("GET /api/v1/users", { token: scimToken })).status).toBe(401);
    expect((await app.call("GET /api/v1/configs/settings", { token: scimToken })).status).toBe(401);
  });

  it.each([
    { SCIM_ENABLED: "false", SCIM_TOKEN: scimToken },
    { SCIM_ENABLED: "true", SCIM_TOKEN: "" },
  ])("is refused with %o on every route (S20)", async (env) => {
    const off = await startScim(env);
    try {
      const client = scimClient(off.url);
      for (const route of [
        "GET /Users",
        "GET /ServiceProviderConfig",
        "GET /Schemas",
        "GET /nothing",
        "GET /",
      ]) {
        expect(refused(await client.call(route))[0]).toBe(401);
      }
      expect(refused(await scimClient(off.url, "").call("GET /Users"))[0]).toBe(401);
    } finally {
      await off.close();
    }
  });

  it("is not stored and cannot be set by administrators", async () => {
    const admin = await app.admin();
    const answer = await admin.call("POST /api/v1/configs/settings", { SCIM_TOKEN: "other" });
    expect(answer.status).toBeGreaterThanOrEqual(400);
    const shown = await admin.call("GET /api/v1/configs/settings");
    expect(shown.text).not.toContain(scimToken);
  });
});

describe("media types and bodies", () => {
  it.each(["application/json", "application/scim+json; charset=utf-8", "application/scim+json"])(
    "takes %s (S27)",
    async (type) => {
      const userName = `${crypto.randomUUID()}@x.test`;
      const body = JSON.stringify({ schemas: [userSchema], userName });
      const answer = await provider.call("POST /Users", body, {
        "content-type": type,
      });
      expect(answer.status).toBe(201);
      expect(answer.headers.get("content-type")).toMatch(/^application\/scim\+json/);
    },
  );

  it.each<[string, [number, string]]>([
    ["{", [400, "invalidSyntax"]],
    ["", [400, "invalidSyntax"]],
    ["[]", [400, "invalidSyntax"]],
    ["5", [400, "invalidSyntax"]],
    ['{"__proto__": {}}', [400, "invalidSyntax"]],
    [`${"[".repeat(500)}`, [400, "invalidSyntax"]],
    ['{"userName": "a\\u0000@x.test"}', [400, "invalidValue"]],
    ['{"userName": 5}', [400, "invalidValue"]],
    ['{"userName": "a@x.test", "active": "perhaps"}', [400, "invalidValue"]],
    ['{"userName": "a@x.test", "name": "Ann"}', [400, "invalidValue"]],
    ['{"userName": "a@x.test", "displayName": "a\\ud800"}', [400, "invalidValue"]],
  ])("refuses the body %s (S29)", async (body, expected) => {
    expect(refused(await provider.call("POST /Users", body))).toEqual(expected);
  });

  it("answers under the address that was used", async () => {
    const { meta } = await provider.user("where@x.test");
    expect(meta.location).toMatch(new RegExp(`^${app.url}${base}/Users/[0-9a-f-]{36}$`));
  });
});
