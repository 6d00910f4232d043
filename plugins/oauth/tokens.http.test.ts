import { createHash, randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openCodeApp } from "#plugins/mfa/mfa.fixture.ts";
import { type AppWithUpstream, startAppWithUpstream } from "#test/support/app-with-upstream.ts";
import { holdClock, passTime } from "#test/support/clock/held-clock.ts";
import { text } from "#test/support/upstream-scripts.ts";
import {
  client,
  createVisitor,
  startProvider,
  type TestClaims,
  type TestProvider,
} from "./provider.fixture.ts";

const maxSessions = 2;
const agent = "Mill browser 7";

holdClock();
let started: AppWithUpstream;
let provider: TestProvider;
let admin: string;

beforeAll(async () => {
  started = await startAppWithUpstream({
    connection: { access: "everyone", auth_type: "system_oauth", model_ids: ["alpha"] },
    env: {
      ENABLE_OAUTH_PERSISTENT_CONFIG: "true",
      ENABLE_OAUTH_TOKEN_EXCHANGE: "true",
      OAUTH_MAX_SESSIONS_PER_USER: String(maxSessions),
      DEFAULT_USER_ROLE: "user",
    },
  });
  const { app } = started;
  ({ token: admin } = await app.admin());
  provider = await startProvider(app.url);
  await app.call("POST /api/v1/auths/admin/config", { token: admin, body: { WEBUI_URL: app.url } });
  const configured = await app.call("POST /api/v1/auths/admin/config/oauth", {
    token: admin,
    body: {
      OPENID_PROVIDER_URL: provider.issuer,
      OAUTH_CLIENT_ID: client.id,
      OAUTH_CLIENT_SECRET: client.secret,
      ENABLE_OAUTH_SIGNUP: true,
    },
  });
  expect(configured.status, configured.text).toBe(200);
});
afterAll(async () => {
  await started?.close();
  await provider?.close();
});

function enrol(claims: TestClaims): void {
  provider.accounts.set(claims.sub, { email_verified: true, ...claims });
  provider.login = claims.sub;
}

async function signIn(visitor = createVisitor()) {
  const { app } = started;
  const init = { headers: { "user-agent": agent } };
  const { location } = await visitor.go(`${app.url}/oauth/oidc/login`, { until: /^\/auth/, init });
  const token = decodeURIComponent(visitor.cookie(app.url, "token") ?? "");
  return { visitor, location, token };
}

const ask = (token: string) =>
  started.app.call("POST /api/chat/completions", {
    token,
    body: { model: "alpha", stream: false, messages: [{ role: "user", content: "Hi" }] },
  });
const renewals = () => provider.requests.filter((request) => request === "POST /token").length;
const bearers = () =>
  started.upstream.requests
    .filter(({ path }) => path.endsWith("/chat/completions"))
    .map(({ headers }) => String(headers["authorization"]).replace("Bearer ", ""));
/** A token of the provider for the person, as the upstream of a system_oauth connection saw it. */
async function readAccessToken(token: string): Promise<string> {
  started.upstream.reply(text("Hello"));
  expect((await ask(token)).status).toBe(200);
  return bearers().at(-1) ?? "";
}

describe("the provider's token behind a connection of the type system_oauth", () => {
  it("is renewed once before its end, however many calls want it at the same time", async () => {
    enrol({ sub: "ida", email: "ida@mill.test" });
    // Half a minute before its end a token counts as ending.
    provider.lifetime = 90;
    const { token } = await signIn();
    provider.lifetime = 3600;
    const first = await readAccessToken(token);
    await passTime(61_000);
    const [renewedBefore, askedBefore] = [renewals(), bearers().length];
    started.upstream.always("/chat/completions", text("Hello"));
    const answers = await Promise.all(Array.from({ length: 8 }, () => ask(token)));
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 200));
    expect(renewals() - renewedBefore).toBe(1);
    const shown = new Set(bearers().slice(askedBefore));
    expect([shown.size, shown.has(first)]).toEqual([1, false]);
    expect((await ask(token)).status).toBe(200);
    expect(renewals() - renewedBefore).toBe(1);
  });

  it("is asked for anew where the provider gives no other", async () => {
    enrol({ sub: "jon", email: "jon@mill.test" });
    provider.lifetime = 1;
    const { token } = await signIn();
    provider.lifetime = 3600;
    // The person is gone at the provider, which refuses the renewal with invalid_grant.
    provider.accounts.delete("jon");
    await passTime(1_500);
    expect(await ask(token)).toMatchObject({
      status: 401,
      text: expect.stringContaining("sign in with the provider"),
    });
    // Renewed by nobody, and the platform's own session goes on.
    expect((await started.app.call("GET /api/v1/auths", { token })).status).toBe(200);
  });

  it("is missing for people who signed in otherwise", async () => {
    const member = await started.app.user();
    expect((await ask(member.token)).status).toBe(401);
  });
});

describe("sign-ins of one person", () => {
  it("are kept up to OAUTH_MAX_SESSIONS_PER_USER, and the newest lends its token", async () => {
    const { app } = started;
    enrol({ sub: "kim", email: "kim@mill.test" });
    const tokens = [];
    for (let count = 0; count < maxSessions + 2; count += 1) {
      tokens.push((await signIn()).token);
    }
    const { id } = (await app.call("GET /api/v1/auths", { token: tokens[0]! })).body;
    const kept = (await app.call(`GET /api/v1/users/${id}/oauth/sessions`, { token: admin })).body;
    expect(kept).toHaveLength(maxSessions);
    expect(JSON.stringify(kept)).not.toMatch(/token"/);
    // The first sign-in goes on: the limit is one of the provider's tokens.
    for (const token of tokens) {
      expect((await app.call("GET /api/v1/auths", { token })).status).toBe(200);
    }
    expect(await readAccessToken(tokens[0]!)).not.toBe("");
  });

  it("stand in the list of sessions with the address and the browser that they began with", async () => {
    enrol({ sub: "lea", email: "lea@mill.test" });
    const { token } = await signIn();
    const { body } = await started.app.call("GET /api/v1/auths/sessions", { token });
    expect(body).toHaveLength(1);
    expect(body[0]).toMatchObject({
      method: "oauth",
      address: expect.stringMatching(/^(::ffff:)?127\.0\.0\.1$|^::1$/),
    });
  });
});

describe("the exchange of an opaque token", () => {
  const exchange = (token: string) =>
    started.app.call("POST /api/v1/auths/oauth/oidc/token/exchange", { body: { token } });

  it("gives a session for a token of this client alone, while the provider calls it alive", async () => {
    enrol({ sub: "mia", email: "mia@mill.test" });
    const own = await readAccessToken((await signIn()).token);
    expect(own.split(".")).toHaveLength(1);
    const done = await exchange(own);
    expect([done.status, done.body.email]).toEqual([200, "mia@mill.test"]);
    const session = await started.app.call("GET /api/v1/auths", { token: done.body.token });
    expect(session.body.email).toBe("mia@mill.test");

    // The same person's token, made for another client of the provider (promise S91).
    const foreign = await exchange(await readForeignToken());
    expect([foreign.status, foreign.text]).toEqual([401, expect.stringContaining("another client")]);
    expect((await exchange("made-up")).status).toBe(401);
    provider.accounts.delete("mia");
    expect((await exchange(own)).status).toBe(401);
  });
});

/** An access token that the provider makes for its client `other`. */
async function readForeignToken(): Promise<string> {
  const verifier = randomBytes(32).toString("base64url");
  const back = "http://127.0.0.1:9/callback";
  const address = new URL(`${provider.issuer}/auth`);
  const challenge = createHash("sha256").update(verifier).digest("base64url");
  const asked = {
    client_id: "other",
    redirect_uri: back,
    response_type: "code",
    scope: "openid email",
    code_challenge: challenge,
    code_challenge_method: "S256",
  };
  Object.entries(asked).forEach(([name, value]) => address.searchParams.set(name, value));
  const { location } = await createVisitor().go(address.href, { until: /127\.0\.0\.1:9/ });
  const answer = await fetch(`${provider.issuer}/token`, {
    method: "POST",
    headers: {
      authorization: `Basic ${Buffer.from(`other:${client.secret}`).toString("base64")}`,
      "content-type": "application/x-www-form-urlencoded",
    },
    body: new URLSearchParams({
      grant_type: "authorization_code",
      code: new URL(location ?? "").searchParams.get("code") ?? "",
      redirect_uri: back,
      code_verifier: verifier,
    }),
  });
  return ((await answer.json()) as { access_token: string }).access_token;
}

// Last, for it asks everybody for a second factor.
describe("a sign-in while the second factor is on", () => {
  it("ends in the factor, which alone gives a session", async () => {
    const { app } = started;
    enrol({ sub: "ned", email: "ned@mill.test" });
    await signIn();
    const on = await app.call("POST /api/v1/auths/admin/config/mfa", {
      token: admin,
      body: { ENABLE_MFA: true },
    });
    expect(on.status, on.text).toBe(200);
    const post = (path: string, body: object, cookie = "") =>
      app.call(`POST /api/v1/auths/${path}`, { body, headers: { cookie } });
    const step = async () => {
      const { visitor, location, token } = await signIn();
      expect([location, token]).toEqual(["/auth", ""]);
      const cookie = `sign_in_step=${visitor.cookie(app.url, "sign_in_step")}`;
      const { body } = await app.call("GET /api/v1/auths/mfa/challenge", { headers: { cookie } });
      return { ...body, challenge_token: decodeURIComponent(visitor.cookie(app.url, "sign_in_step") ?? "") };
    };
    const first = await step();
    expect(first.next_step).toBe("enroll");
    expect((await app.call("GET /api/v1/auths", { token: first.challenge_token })).status).toBe(401);
    const { body: begun } = await post("mfa/enroll", { challenge_token: first.challenge_token });
    const codes = openCodeApp(begun.manual_key);
    const confirmed = await post("mfa/enroll/confirm", {
      challenge_token: begun.challenge_token,
      code: codes.code(-1),
    });
    expect(confirmed.body.email).toBe("ned@mill.test");

    const second = await step();
    expect(second.next_step).toBe("verify");
    const wrong = await post("mfa/verify", { challenge_token: second.challenge_token, code: "000000" });
    expect([wrong.status, wrong.body.token]).toEqual([400, undefined]);
    const done = await post("mfa/verify", { challenge_token: second.challenge_token, code: codes.code() });
    expect(done.status, done.text).toBe(200);
    const claims = JSON.parse(Buffer.from(done.body.token.split(".")[1], "base64url").toString());
    expect(claims).toMatchObject({ mfa_verified: true, auth_method: "oauth" });

    // A token of the provider is no way around the factor.
    const idToken = (await signIn()).visitor.cookie(app.url, "oauth_id_token");
    const exchanged = await app.call("POST /api/v1/auths/oauth/oidc/token/exchange", {
      body: { token: idToken },
    });
    expect([exchanged.status, exchanged.body.next_step, exchanged.body.token]).toEqual([
      200,
      "verify",
      undefined,
    ]);
  });
});
