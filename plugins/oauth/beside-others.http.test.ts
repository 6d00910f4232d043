import { afterAll, beforeAll, expect, it } from "vitest";
import { scimClient, startScim } from "#plugins/scim/scim.fixture.ts";
import { type App, startApp } from "#test/support/app.ts";
import {
  client,
  createVisitor,
  startProvider,
  type TestClaims,
  type TestProvider,
} from "./provider.fixture.ts";

let app: App;
let provider: TestProvider;
let admin: string;

beforeAll(async () => {
  app = await startScim({
    ENABLE_OAUTH_PERSISTENT_CONFIG: "true",
    ENABLE_OAUTH_SIGNUP: "true",
    OAUTH_CLIENT_ID: client.id,
    OAUTH_CLIENT_SECRET: client.secret,
    // Merging is off: an account that the identity provider made is linked all the same.
    OAUTH_MERGE_ACCOUNTS_BY_EMAIL: "false",
  });
  ({ token: admin } = await app.admin());
  provider = await startProvider(app.url);
  await set("config", { WEBUI_URL: app.url, DEFAULT_USER_ROLE: "pending" });
  await set("config/oauth", { OPENID_PROVIDER_URL: provider.issuer });
});
afterAll(async () => {
  await app?.close();
  await provider?.close();
});

async function set(path: string, body: object): Promise<void> {
  const answer = await app.call(`POST /api/v1/auths/admin/${path}`, { token: admin, body });
  expect(answer.status, answer.text).toBe(200);
}

async function signIn(claims: TestClaims) {
  provider.accounts.set(claims.sub, claims);
  provider.login = claims.sub;
  const visitor = createVisitor();
  const { location } = await visitor.go(`${app.url}/oauth/oidc/login`, { until: /^\/auth/ });
  const token = decodeURIComponent(visitor.cookie(app.url, "token") ?? "");
  const own = token === "" ? undefined : (await app.call("GET /api/v1/auths", { token })).body;
  return { location, token, own };
}

it("a first sign-in waits for approval where DEFAULT_USER_ROLE is pending (I11)", async () => {
  const { location, own, token } = await signIn({ sub: "pia", email: "pia@mill.test", email_verified: true });
  expect([location, own.role]).toEqual(["/auth", "pending"]);
  expect((await app.call("GET /api/models", { token })).status).toBe(403);
});

it("an account that SCIM made is the one that signs in, and keeps its externalId (I13)", async () => {
  const scim = scimClient(app.url);
  const made = await scim.user("Quin@mill.test", { externalId: "ext-7", active: true, displayName: "Quin" });
  const unverified = await signIn({ sub: "quin", email: "quin@mill.test", email_verified: false });
  expect(unverified.location).toBe("/auth?error=address_unverified");
  const { location, own } = await signIn({ sub: "quin", email: "quin@mill.test", email_verified: true });
  expect([location, own.id, own.role]).toEqual(["/auth", made.id, "user"]);
  const { body } = await scim.call(`GET /Users/${made.id}`);
  expect([body.externalId, body.userName]).toEqual(["ext-7", "quin@mill.test"]);
  expect(await scim.find("Users", 'userName eq "quin@mill.test"')).toHaveLength(1);
  // Somebody else at the provider with the same address is not that person.
  const other = await signIn({ sub: "quin-2", email: "quin@mill.test", email_verified: true });
  expect(other.location).toBe("/auth?error=other_person");
});

it("a sign-in gives no way back to an account that SCIM deactivated", async () => {
  const scim = scimClient(app.url);
  const made = await scim.user("rex@mill.test", { active: true });
  const person = { sub: "rex", email: "rex@mill.test", email_verified: true };
  const { token } = await signIn(person);
  await scim.patch(`/Users/${made.id}`, { op: "replace", path: "active", value: false });
  await expect.poll(async () => (await app.call("GET /api/v1/auths", { token })).status).toBe(401);
  const again = await signIn(person);
  expect(again.own?.role ?? "pending").toBe("pending");
  expect((await app.call("GET /api/models", { token: again.token })).status).toBe(401);
});

it("ENABLE_PASSWORD_AUTH=false closes passwords and directories, and leaves providers (I21)", async () => {
  const closed = await startApp({
    env: {
      ENABLE_PASSWORD_AUTH: "false",
      ENABLE_LDAP: "true",
      ENABLE_OAUTH_PERSISTENT_CONFIG: "true",
      ENABLE_OAUTH_SIGNUP: "true",
      OAUTH_CLIENT_ID: client.id,
      OAUTH_CLIENT_SECRET: client.secret,
    },
  });
  const own = await startProvider(closed.url);
  try {
    const address = { WEBUI_URL: closed.url, OPENID_PROVIDER_URL: own.issuer };
    await closed.running.registry.set(address, null);
    for (const [route, body] of [
      ["signin", { email: "ada@mill.test", password: "Correct-horse-1" }],
      ["ldap", { user: "ada", password: "Correct-horse-1" }],
    ] as const) {
      const answer = await closed.call(`POST /api/v1/auths/${route}`, { body });
      expect([route, answer.status]).toEqual([route, 403]);
    }
    own.accounts.set("sol", { sub: "sol", email: "sol@mill.test", email_verified: true });
    own.login = "sol";
    const visitor = createVisitor();
    const { location } = await visitor.go(`${closed.url}/oauth/oidc/login`, { until: /^\/auth/ });
    const token = decodeURIComponent(visitor.cookie(closed.url, "token") ?? "");
    // The first account of an installation is its administrator.
    const { body } = await closed.call("GET /api/v1/auths", { token });
    expect([location, body.role]).toEqual(["/auth", "admin"]);
  } finally {
    await closed.close();
    await own.close();
  }
});
