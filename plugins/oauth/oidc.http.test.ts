import { afterAll, beforeAll, describe, expect, it } from "vitest";
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
  app = await startApp({
    env: {
      ENABLE_OAUTH_PERSISTENT_CONFIG: "true",
      ENABLE_OAUTH_BACKCHANNEL_LOGOUT: "true",
      DEFAULT_USER_ROLE: "user",
    },
  });
  ({ token: admin } = await app.admin());
  provider = await startProvider(app.url);
  await app.call("POST /api/v1/auths/admin/config", { token: admin, body: { WEBUI_URL: app.url } });
  await configure({
    OPENID_PROVIDER_URL: `${provider.issuer}/.well-known/openid-configuration`,
    OAUTH_CLIENT_ID: client.id,
    OAUTH_CLIENT_SECRET: client.secret,
    OAUTH_PROVIDER_NAME: "Mill ID",
    ENABLE_OAUTH_SIGNUP: true,
  });
});
afterAll(async () => {
  await app?.close();
  await provider?.close();
});

async function configure(body: Record<string, unknown>): Promise<void> {
  const answer = await app.call("POST /api/v1/auths/admin/config/oauth", { token: admin, body });
  expect(answer.status, answer.text).toBe(200);
}

function enrol(claims: TestClaims): void {
  provider.accounts.set(claims.sub, claims);
  provider.login = claims.sub;
}

/** A whole sign-in of whom the provider logs in next; `token` is undefined where it failed. */
async function signIn(visitor = createVisitor(), path = "/oauth/oidc/login") {
  const { visited, location } = await visitor.go(app.url + path, { until: /^\/(auth|admin)/ });
  const token = visitor.cookie(app.url, "token");
  const own =
    token === undefined
      ? undefined
      : await app.call("GET /api/v1/auths", { token: decodeURIComponent(token) });
  return { visitor, visited, location, token: token && decodeURIComponent(token), own: own?.body };
}

describe("a sign-in by OpenID Connect", () => {
  it("makes an account of the claims, and finds it again", async () => {
    enrol({ sub: "ada", email: "Ada@mill.test", email_verified: true, name: "Ada Miller" });
    const first = await signIn();
    expect(first.location).toBe("/auth");
    expect(first.own).toMatchObject({ email: "ada@mill.test", name: "Ada Miller", role: "user" });
    expect(first.visited[1]).toMatch(/code_challenge=.+&code_challenge_method=S256/);
    expect(first.visited[1]).toContain("nonce=");
    const second = await signIn(first.visitor, "/oauth/oidc/login?redirect=%2Fc%2F1");
    expect(second.location).toBe("/auth?redirect=%2Fc%2F1");
    expect(second.own.id).toBe(first.own.id);
    const config = await app.call("GET /api/config");
    expect(config.body.oauth).toEqual({ providers: { oidc: "Mill ID" }, auto_redirect: false });
    const record = await app.call(`GET /api/v1/users/${first.own.id}`, { token: admin });
    expect(record.body.oauth).toEqual({ oidc: { sub: "ada" } });
  });

  it("is ended once, by the browser that began it, at the provider that it began at", async () => {
    enrol({ sub: "cay", email: "cay@mill.test", email_verified: true });
    const visitor = createVisitor();
    const { location: callback } = await visitor.go(`${app.url}/oauth/oidc/login`, {
      until: /login\/callback/,
    });
    const cookies = new Map(visitor.jarOf(app.url));
    const thief = await createVisitor().go(callback!, { until: /^\/auth/ });
    expect(thief.location).toBe("/auth?error=state");
    const elsewhere = await visitor.go(callback!.replace("/oidc/", "/google/"), { until: /^\/auth/ });
    expect(elsewhere.response.status).toBe(404);
    const done = await visitor.go(callback!, { until: /^\/auth/ });
    expect(done.location).toBe("/auth");
    // The same answer once more, with the same cookies.
    cookies.forEach((value, name) => visitor.jarOf(app.url).set(name, value));
    const again = await visitor.go(callback!, { until: /^\/auth/ });
    expect(again.location).toBe("/auth?error=state");
    const forged = await visitor.go(`${app.url}/oauth/oidc/login/callback?state=made-up&code=x`, {
      until: /^\/auth/,
    });
    expect(forged.location).toBe("/auth?error=state");
  });

  it("tells the page when the person said no, and leads to no other host", async () => {
    provider.login = "";
    expect((await signIn()).location).toBe("/auth?error=access_denied");
    for (const path of ["https://evil.test", "//evil.test", "/\\evil.test"]) {
      expect((await app.call(`GET /oauth/oidc/login?redirect=${encodeURIComponent(path)}`)).status).toBe(422);
    }
  });

  it("lets a person choose another account after a refusal", async () => {
    const prompt = async (query: string) => {
      const { headers } = await app.call(`GET /oauth/oidc/login${query}`);
      return new URL(headers.get("location") ?? "").searchParams.get("prompt");
    };
    expect(await prompt("")).toBeNull();
    // This provider does not say that it knows "select_account", and refuses it.
    expect(await prompt("?choose=1")).toBe("login");
  });

  it.each([
    ["off", { OAUTH_MERGE_ACCOUNTS_BY_EMAIL: false }, true, "/auth?error=address_taken"],
    [
      "on, but the address is not verified",
      { OAUTH_MERGE_ACCOUNTS_BY_EMAIL: true },
      false,
      "/auth?error=address_unverified",
    ],
    ["on", { OAUTH_MERGE_ACCOUNTS_BY_EMAIL: true }, true, "/auth"],
  ])(
    "takes over the account with its address while merging is %s",
    async (_name, settings, verified, location) => {
      const member = await app.user();
      await configure(settings);
      enrol({ sub: `merge-${member.id}`, email: member.email, email_verified: verified });
      const done = await signIn();
      expect(done.location).toBe(location);
      expect(done.own?.id).toBe(location === "/auth" ? member.id : undefined);
      await configure({ OAUTH_MERGE_ACCOUNTS_BY_EMAIL: false });
    },
  );

  it("makes no account while sign-up is off, and lets nobody in from other domains", async () => {
    await configure({ ENABLE_OAUTH_SIGNUP: false });
    enrol({ sub: "new", email: "new@mill.test", email_verified: true });
    expect((await signIn()).location).toBe("/auth?error=no_sign_up");
    await configure({ ENABLE_OAUTH_SIGNUP: true, OAUTH_ALLOWED_DOMAINS: ["weir.test"] });
    expect((await signIn()).location).toBe("/auth?error=domain");
    await configure({ OAUTH_ALLOWED_DOMAINS: ["*"] });
    enrol({ sub: "mute" });
    expect((await signIn()).location).toBe("/auth?error=no_email");
    await configure({ ENABLE_OAUTH_WITHOUT_EMAIL: true });
    expect((await signIn()).own.email).toBe("oidc@mute.local");
    await configure({ ENABLE_OAUTH_WITHOUT_EMAIL: false });
  });

  it("follows the provider's roles, groups and names", async () => {
    for (const name of ["Millers", "Guests", "Sealed"]) {
      await app.call("POST /api/v1/groups/create", { token: admin, body: { name, description: "" } });
    }
    await configure({
      ENABLE_OAUTH_ROLE_MANAGEMENT: true,
      OAUTH_ROLES_CLAIM: "realm.roles",
      OAUTH_ALLOWED_ROLES: ["staff"],
      OAUTH_ADMIN_ROLES: ["boss"],
      ENABLE_OAUTH_GROUP_MANAGEMENT: true,
      ENABLE_OAUTH_GROUP_CREATION: true,
      OAUTH_BLOCKED_GROUPS: ["Seal*"],
      OAUTH_UPDATE_NAME_ON_LOGIN: true,
      OAUTH_UPDATE_EMAIL_ON_LOGIN: true,
    });
    const person = { sub: "dov", email: "dov@mill.test", email_verified: true, name: "Dov" };
    const groups = async (token: string) =>
      (await app.call("GET /api/v1/users/groups", { token })).body
        .map(({ name }: { name: string }) => name)
        .toSorted();
    enrol({ ...person, realm: { roles: ["guest"] }, groups: [] });
    expect((await signIn()).location).toBe("/auth?error=role");
    enrol({ ...person, realm: { roles: ["staff"] }, groups: "Millers;New mill;Sealed" });
    const first = await signIn();
    expect(first.own.role).toBe("user");
    expect(await groups(first.token!)).toEqual(["Millers", "New mill"]);
    enrol({
      ...person,
      email: "dov2@mill.test",
      name: "Dov Weir",
      realm: { roles: ["staff"] },
      groups: ["Guests"],
    });
    const second = await signIn();
    expect(second.own).toMatchObject({ id: first.own.id, name: "Dov Weir", email: "dov2@mill.test" });
    expect(await groups(second.token!)).toEqual(["Guests"]);
    enrol({ ...person, realm: { roles: "boss" } });
    expect((await signIn()).own.role).toBe("admin");
    await configure({
      ENABLE_OAUTH_ROLE_MANAGEMENT: false,
      ENABLE_OAUTH_GROUP_MANAGEMENT: false,
      OAUTH_UPDATE_NAME_ON_LOGIN: false,
      OAUTH_UPDATE_EMAIL_ON_LOGIN: false,
    });
  });
});

describe("the end of a session", () => {
  it("goes on at the provider, which ends its own", async () => {
    enrol({ sub: "ema", email: "ema@mill.test", email_verified: true });
    const { visitor, token } = await signIn();
    const out = await visitor.go(`${app.url}/api/v1/auths/signout`, { init: { method: "POST" } });
    const { redirect_url: address } = (await out.response.json()) as { redirect_url: string };
    expect(address).toContain(`${provider.issuer}/session/end?`);
    expect(address).toContain(`post_logout_redirect_uri=${encodeURIComponent(`${app.url}/auth`)}`);
    expect((await visitor.go(address)).response.status).toBe(200);
    expect((await app.call("GET /api/v1/auths", { token: token! })).status).toBe(401);
  });

  it("comes from the provider by a back channel, once for each token", async () => {
    enrol({ sub: "fay", email: "fay@mill.test", email_verified: true });
    const { visitor, token } = await signIn();
    const id = visitor.cookie(app.url, "oauth_id_token")!;
    const end = await visitor.go(`${provider.issuer}/session/end?id_token_hint=${id}`);
    const html = await end.response.text();
    const xsrf = /name="xsrf" value="([^"]+)"/.exec(html)?.[1] ?? "";
    await visitor.go(`${provider.issuer}/session/end/confirm`, {
      init: {
        method: "POST",
        body: new URLSearchParams({ xsrf, logout: "yes" }),
        headers: { "content-type": "application/x-www-form-urlencoded" },
      },
    });
    await expect.poll(async () => (await app.call("GET /api/v1/auths", { token: token! })).status).toBe(401);
    const bad = await app.call("POST /oauth/backchannel-logout", {
      body: "logout_token=x",
      headers: { "content-type": "application/x-www-form-urlencoded" },
    });
    expect(bad.status).toBe(400);
    // An ID token is none.
    const swapped = await app.call("POST /oauth/backchannel-logout", { body: `logout_token=${id}` });
    expect(swapped.status).toBe(400);
  });
});

describe("a login that is tested", () => {
  it("shows claims and rules, and signs nobody in", async () => {
    enrol({ sub: "gil", email: "gil@mill.test", email_verified: true, name: "Gil" });
    const visitor = createVisitor();
    visitor.jarOf(app.url).set("token", admin);
    const { location } = await visitor.go(`${app.url}/oauth/oidc/login?test=1`, { until: /^\/(auth|admin)/ });
    const id = /^\/admin\/sign-in\?trial=([\w-]+)$/.exec(location ?? "")?.[1];
    const trial = await app.call(`GET /api/v1/auths/admin/oauth/trials/${id}`, { token: admin });
    expect(trial.body).toMatchObject({
      ok: true,
      claims: { sub: "gil", email: "gil@mill.test" },
      outcome: { account: null, rule: "created", email: "gil@mill.test", name: "Gil", role: "user" },
    });
    expect(trial.body.decisions).toContainEqual({
      about: "email",
      by: "OAUTH_EMAIL_CLAIM",
      ok: true,
      detail: "email = gil@mill.test (verified)",
    });
    expect(visitor.cookie(app.url, "token")).toBe(admin);
    expect((await app.call("GET /api/v1/users?query=gil", { token: admin })).body.total).toBe(0);
    const other = await app.user("admin");
    expect((await other.call(`GET /api/v1/auths/admin/oauth/trials/${id}`)).status).toBe(404);
    const member = await app.user();
    expect((await member.call("GET /oauth/oidc/login?test=1")).status).toBe(403);
    expect((await app.call("GET /oauth/oidc/login?test=1")).status).toBe(403);
  });
});
