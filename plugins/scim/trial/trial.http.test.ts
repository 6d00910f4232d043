import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { App, TestUser } from "#test/support/app.ts";
import { type ScimClient, scimClient, startScim } from "../scim.fixture.ts";
import { providers } from "./provider-calls.ts";

let app: App;
let admin: TestUser;
let provider: ScimClient;

beforeAll(async () => {
  app = await startScim({ SCIM_AUTH_PROVIDER: "oidc" });
  admin = await app.admin();
  provider = scimClient(app.url);
});

afterAll(() => app?.close());

const count = async () =>
  JSON.stringify(
    await app.running.database.query(
      `select (select count(*) from "user") as users, (select count(*) from "group") as groups,
        (select count(*) from audit_record) as records, (select count(*) from scim_call) as calls`,
    ),
  );

describe("a trial", () => {
  it.each(providers)("of %s answers as it should, and leaves nothing behind", async (name) => {
    const before = await count();
    const { status, body } = await admin.call("POST /api/v1/scim/trial", { provider: name });
    expect(status).toBe(200);
    expect(body.filter(({ ok }: { ok: boolean }) => !ok)).toEqual([]);
    expect(body).toHaveLength(13);
    expect(await count()).toBe(before);
  });

  it("is refused as the provider is, while provisioning is off", async () => {
    const shut = await startScim({ SCIM_ENABLED: "false" });
    try {
      const boss = await shut.admin();
      const { status, body } = await boss.call("POST /api/v1/scim/trial", { provider: "okta" });
      expect(status).toBe(200);
      expect(body.map((result: { status: number; ok: boolean }) => [result.status, result.ok])).toEqual(
        Array.from({ length: 13 }, () => [401, false]),
      );
    } finally {
      await shut.close();
    }
  });

  it("changes nothing by a call that comes after its end", async () => {
    const late = await provider.call("POST /Users", { userName: "late@x.test" }, { "x-scim-trial": "ended" });
    expect(late.status).toBe(409);
    const { body: calls } = await admin.call("GET /api/v1/scim/calls");
    expect(calls[0]).toMatchObject({ method: "POST", path: "/Users", status: 409 });
    expect(await provider.find("Users", 'userName eq "late@x.test"')).toEqual([]);
  });

  it("is for administrators alone", async () => {
    const user = await app.user();
    for (const route of ["POST /api/v1/scim/trial", "GET /api/v1/scim/calls", "GET /api/v1/scim/state"]) {
      const body = route.startsWith("POST") ? { provider: "okta" } : undefined;
      expect((await user.call(route, body)).status).toBe(403);
    }
  });
});

describe("the page's facts", () => {
  it("are the state, without the token, and the last calls with what they answered", async () => {
    await provider.user("seen@x.test");
    await provider.call("GET /Users?filter=nonsense");
    await scimClient(app.url, "wrong").call("GET /Users");
    const state = await admin.call("GET /api/v1/scim/state");
    expect(state.body).toMatchObject({
      enabled: true,
      has_token: true,
      provider: "oidc",
      path: "/api/v1/scim/v2",
    });
    expect(state.text).not.toContain("scim-token");
    const { body: calls } = await admin.call("GET /api/v1/scim/calls");
    expect(calls.slice(0, 3)).toMatchObject([
      { method: "GET", path: "/Users", status: 401, reason: null },
      { method: "GET", path: "/Users?filter=nonsense", status: 400, reason: "invalidFilter" },
      { method: "POST", path: "/Users", status: 201, detail: null, address: expect.any(String) },
    ]);
  });
});
