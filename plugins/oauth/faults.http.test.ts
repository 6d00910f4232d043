import { beforeEach, describe, expect, it } from "vitest";
import { SignJWT, UnsecuredJWT } from "jose";
import { type App, startApp } from "#test/support/app.ts";
import { setUp } from "#test/support/set-up.ts";
import { createVisitor } from "./provider.fixture.ts";
import { scriptedClient, type ScriptedProvider, startScripted } from "./scripted.fixture.ts";

let app: App;
let peer: ScriptedProvider;
let admin: string;

setUp(async (keep) => {
  peer = await keep(startScripted());
  app = await keep(
    startApp({
      env: {
        OPENID_PROVIDER_URL: `${peer.url}/.well-known/openid-configuration`,
        OAUTH_CLIENT_ID: scriptedClient.id,
        OAUTH_CLIENT_SECRET: scriptedClient.secret,
        OAUTH_TIMEOUT: "1",
        ENABLE_OAUTH_SIGNUP: "true",
        ENABLE_OAUTH_TOKEN_EXCHANGE: "true",
        OAUTH_TOKEN_EXCHANGE_TRUSTED_CLIENT_IDS: "helper",
        OAUTH_TOKEN_EXCHANGE_RATE_LIMIT: "8",
        ENABLE_OAUTH_ROLE_MANAGEMENT: "true",
        DEFAULT_USER_ROLE: "user",
      },
    }),
  );
  ({ token: admin } = await app.admin());
  await app.call("POST /api/v1/auths/admin/config", { token: admin, body: { WEBUI_URL: app.url } });
});

const sound = { email: "ada@mill.test", email_verified: true, roles: ["user"] };
beforeEach(() => {
  peer.claims = { ...sound };
  peer.sign = undefined;
  delete peer.answers["/token"];
  delete peer.answers["/callback-extras"];
});

async function signIn(): Promise<string | null> {
  const { location } = await createVisitor().go(`${app.url}/oauth/oidc/login`, { until: /^\/auth/ });
  return location;
}

const now = () => Math.floor(Date.now() / 1000);

const refused = "/auth?error=provider";
const claim = (more: object) => void (peer.claims = { ...sound, ...more });
const answer = (given: object) => void (peer.answers["/token"] = () => given);

describe("an ID token", () => {
  it.each([
    ["as it should be", () => {}, "/auth"],
    ["of a clock that is half a minute behind", () => claim({ iat: now() - 400, exp: now() - 30 }), "/auth"],
    ["of a clock that is half a minute ahead", () => claim({ iat: now() + 30 }), "/auth"],
    ["that expired ten minutes ago", () => claim({ exp: now() - 600 }), refused],
    ["of another issuer", () => claim({ iss: "https://evil.test" }), refused],
    ["for another client", () => claim({ aud: "other" }), refused],
    ["of another sign-in", () => claim({ nonce: "other" }), refused],
    [
      "without a signature",
      () => void (peer.sign = async (claims) => new UnsecuredJWT(claims).encode()),
      refused,
    ],
    [
      "signed with the client's secret",
      () =>
        void (peer.sign = (claims) =>
          new SignJWT(claims)
            .setProtectedHeader({ alg: "HS256" })
            .sign(new TextEncoder().encode(scriptedClient.secret.padEnd(32, "x")))),
      refused,
    ],
    [
      "signed with another key",
      () =>
        void (peer.sign = async (claims) =>
          `${(await peer.signed(claims)).split(".").slice(0, 2).join(".")}.AAAA`),
      refused,
    ],
  ])("%s", async (_name, arrange, location) => {
    arrange();
    expect(await signIn()).toBe(location);
  });
});

describe("a provider", () => {
  it.each([
    ["answers with a page", () => answer({ type: "text/html", body: "<h1>Login</h1>" }), "provider"],
    ["answers with an error", () => answer({ status: 400, body: { error: "invalid_grant" } }), "provider"],
    ["sends no ID token", () => answer({ body: { access_token: "x", token_type: "bearer" } }), "provider"],
    ["is silent", () => void (peer.answers["/token"] = () => "silence"), "provider_silent"],
    [
      "is another one than the browser was sent to",
      () =>
        void (peer.answers["/callback-extras"] = ({ url }) => (
          url.searchParams.set("iss", "https://evil.test"),
          {}
        )),
      "provider",
    ],
  ])("that %s ends the sign-in in words", async (_name, arrange, word) => {
    arrange();
    expect(await signIn()).toBe(`/auth?error=${word}`);
  });
});

describe("the keys of the provider", () => {
  const asked = () => peer.seen.filter(({ path }) => path === "/keys").length;

  it("are followed at once when they change", async () => {
    expect(await signIn()).toBe("/auth");
    await peer.rotate("two");
    const before = asked();
    expect(await signIn()).toBe("/auth");
    expect(await signIn()).toBe("/auth");
    expect(asked()).toBe(before + 1);
  });

  it("are asked for once by a token that names an unknown one, and not by very many", async () => {
    expect(await signIn()).toBe("/auth");
    const tell = (kid: string) => {
      peer.sign = (claims) => new SignJWT(claims).setProtectedHeader({ alg: "RS256", kid }).sign(peer.key);
    };
    tell("nobody's");
    const before = asked();
    expect([await signIn(), await signIn(), await signIn()]).toEqual([refused, refused, refused]);
    expect(asked()).toBe(before + 1);
    for (let n = 0; n < 12; n++) {
      tell(`nobody's ${n}`);
      expect(await signIn()).toBe(refused);
    }
    expect(asked()).toBeLessThanOrEqual(before + 6);
  });
});

it("settings that come from the environment are shown without secrets, and not changed", async () => {
  const read = await app.call("GET /api/v1/auths/admin/config/oauth", { token: admin });
  expect(read.body).toMatchObject({ OAUTH_CLIENT_ID: scriptedClient.id, ENABLE_OAUTH_SIGNUP: true });
  expect(read.text).not.toContain(scriptedClient.secret);
  const change = await app.call("POST /api/v1/auths/admin/config/oauth", {
    token: admin,
    body: { ENABLE_OAUTH_SIGNUP: false },
  });
  expect([change.status, change.text]).toEqual([
    422,
    expect.stringContaining("ENABLE_OAUTH_PERSISTENT_CONFIG"),
  ]);
  const member = await app.user();
  expect((await member.call("GET /api/v1/auths/admin/config/oauth")).status).toBe(403);
});

describe("the exchange of a token", () => {
  const exchange = async (claims: Record<string, unknown>, provider = "oidc") => {
    const token = await peer.signed({
      iss: peer.url,
      aud: scriptedClient.id,
      sub: "ada",
      iat: now(),
      exp: now() + 60,
      ...sound,
      ...claims,
    });
    return await app.call(`POST /api/v1/auths/oauth/${provider}/token/exchange`, { body: { token } });
  };

  it("gives a session to who signed in before, and bounds the tries", async () => {
    expect(await signIn()).toBe("/auth");
    const done = await exchange({});
    expect(done.status, done.text).toBe(200);
    expect(done.body).toMatchObject({ email: "ada@mill.test", token_type: "Bearer" });
    expect((await exchange({ aud: "api", azp: "helper" })).status).toBe(200);
    // Made for another client, though it names this one too (promise S91).
    expect((await exchange({ aud: "other" })).status).toBe(401);
    expect((await exchange({ aud: [scriptedClient.id, "other"], azp: "other" })).status).toBe(401);
    expect((await exchange({ iss: "https://evil.test" })).status).toBe(401);
    expect((await exchange({ roles: ["guest"] })).status).toBe(403);
    expect((await exchange({ sub: "nobody", email: "nobody@mill.test" })).status).toBe(403);
    expect((await exchange({}, "google")).status).toBe(404);
    const opaque = await app.call("POST /api/v1/auths/oauth/oidc/token/exchange", {
      body: { token: "opaque" },
    });
    expect(opaque.status).toBe(401);
    const late = await exchange({});
    expect([late.status, Number(late.headers.get("retry-after"))]).toEqual([429, expect.any(Number)]);
  });
});
