import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type App, startApp } from "#test/support/app.ts";
import { createVisitor } from "./provider.fixture.ts";
import { scriptedClient, type ScriptedProvider, startScripted } from "./scripted.fixture.ts";

const tenant = "0d1f7cc4-0000-4000-8000-000000000000";
const png =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
let app: App;
let google: ScriptedProvider;
let microsoft: ScriptedProvider;
let github: ScriptedProvider;
let feishu: ScriptedProvider;

beforeAll(async () => {
  [google, microsoft, github, feishu] = await Promise.all([
    startScripted(),
    startScripted(`/${tenant}/v2.0`),
    startScripted(),
    startScripted(),
  ]);
  app = await startApp({
    env: {
      GOOGLE_CLIENT_ID: scriptedClient.id,
      GOOGLE_CLIENT_SECRET: scriptedClient.secret,
      GOOGLE_ISSUER_URL: google.url,
      MICROSOFT_CLIENT_ID: scriptedClient.id,
      MICROSOFT_CLIENT_SECRET: scriptedClient.secret,
      MICROSOFT_CLIENT_TENANT_ID: tenant,
      MICROSOFT_CLIENT_LOGIN_BASE_URL: microsoft.url,
      MICROSOFT_CLIENT_PICTURE_URL: `${microsoft.url}/photo`,
      GITHUB_CLIENT_ID: scriptedClient.id,
      GITHUB_CLIENT_SECRET: scriptedClient.secret,
      GITHUB_URL: github.url,
      GITHUB_API_URL: github.url,
      FEISHU_CLIENT_ID: scriptedClient.id,
      FEISHU_CLIENT_SECRET: scriptedClient.secret,
      FEISHU_URL: feishu.url,
      FEISHU_API_URL: feishu.url,
      ENABLE_OAUTH_SIGNUP: "true",
      OAUTH_MERGE_ACCOUNTS_BY_EMAIL: "true",
      DEFAULT_USER_ROLE: "user",
    },
  });
  await app.admin();
});
afterAll(async () => {
  await app?.close();
  await Promise.all([google, microsoft, github, feishu].map((each) => each?.close()));
});

async function signIn(provider: string) {
  const visitor = createVisitor();
  const { location, visited } = await visitor.go(`${app.url}/oauth/${provider}/login`, { until: /^\/auth/ });
  const token = visitor.cookie(app.url, "token");
  const own = token && (await app.call("GET /api/v1/auths", { token: decodeURIComponent(token) })).body;
  return { location, visited, own };
}

it("nobody leaves for a provider before WEBUI_URL says where the way back is", async () => {
  const { location, visited } = await signIn("google");
  expect([location, visited]).toEqual(["/auth?error=not_set_up", [expect.any(String)]]);
  const admin = await app.admin();
  const { body } = await admin.call("GET /api/v1/auths/admin/oauth/providers");
  expect(body.providers.map(({ problem }: { problem: string }) => problem)).toEqual(
    Array.from({ length: 4 }, () => expect.stringContaining("WEBUI_URL")),
  );
  await admin.call("POST /api/v1/auths/admin/config", { WEBUI_URL: app.url });
});

describe("people come", () => {
  it("from Google, with all their buttons in a fixed order", async () => {
    google.claims = { sub: "g-1", email: "gus@mill.test", email_verified: true, name: "Gus" };
    const { own } = await signIn("google");
    expect(own).toMatchObject({ email: "gus@mill.test", name: "Gus" });
    const { body } = await app.call("GET /api/config");
    expect(Object.entries(body.oauth.providers)).toEqual([
      ["google", "Google"],
      ["microsoft", "Microsoft"],
      ["github", "GitHub"],
      ["feishu", "Feishu"],
    ]);
  });

  it("from Microsoft's tenant, with the picture that its interface shows", async () => {
    microsoft.claims = { sub: "m-1", email: "gus@mill.test", name: "Gus M", tid: tenant };
    microsoft.answers["/photo"] = ({ headers }) =>
      headers.authorization === "Bearer an-access-token"
        ? { type: "image/png", body: Buffer.from(png, "base64") }
        : { status: 401 };
    const first = await signIn("microsoft");
    // The tenant vouches for the address, so the account from Google is taken over.
    expect(first.own).toMatchObject({ name: "Gus" });
    microsoft.claims = { sub: "m-2", email: "mia@mill.test", name: "Mia", tid: tenant };
    const { own } = await signIn("microsoft");
    const headers = { authorization: `Bearer ${(await app.admin()).token}` };
    const picture = await fetch(`${app.url}/api/v1/users/${own.id}/profile/image`, { headers });
    expect(Buffer.from(await picture.arrayBuffer()).toString("base64")).toBe(png);
  });

  it("from GitHub, by the address that it has verified", async () => {
    github.answers["/login/oauth/access_token"] = ({ form }) =>
      form.get("client_secret") === scriptedClient.secret && form.has("code_verifier")
        ? { body: { access_token: "gh-token", token_type: "bearer", scope: "user:email" } }
        : { body: { error: "bad_verification_code", error_description: "The code is wrong." } };
    github.answers["/user"] = ({ headers }) =>
      headers.authorization === "Bearer gh-token"
        ? {
            body: {
              id: 583231,
              login: "octo",
              name: null,
              email: "public@mill.test",
              avatar_url: `data:image/png;base64,${png}`,
            },
          }
        : { status: 401 };
    const emails = [
      { email: "octo@mill.test", primary: true, verified: true, visibility: null },
      { email: "public@mill.test", primary: false, verified: false, visibility: "public" },
    ];
    github.answers["/user/emails"] = () => ({ body: emails });
    const { own } = await signIn("github");
    expect(own).toMatchObject({ email: "octo@mill.test", name: "octo" });
    github.answers["/user/emails"] = () => ({ status: 404 });
    const again = await signIn("github");
    expect(again.own.id).toBe(own.id);
    github.answers["/user"] = () => ({ status: 500, type: "text/html", body: "<h1>Unicorn</h1>" });
    expect((await signIn("github")).location).toBe("/auth?error=provider");
    github.answers["/login/oauth/access_token"] = () => ({ body: { error: "bad_verification_code" } });
    expect((await signIn("github")).location).toBe("/auth?error=provider");
  });

  it("from Feishu, by the address of their enterprise", async () => {
    feishu.answers["/open-apis/authen/v2/oauth/token"] = ({ form }) =>
      form.get("client_secret") === scriptedClient.secret && form.has("code_verifier")
        ? { body: { code: 0, access_token: "fs-token", token_type: "Bearer", expires_in: 7200 } }
        : { status: 400, body: { code: 20_003, error: "invalid_grant" } };
    let person: Record<string, unknown> = {
      open_id: "ou-1",
      name: "Fei",
      email: "gus@mill.test",
      enterprise_email: "fei@mill.test",
      avatar_url: "",
    };
    feishu.answers["/open-apis/authen/v1/user_info"] = ({ headers }) =>
      headers.authorization === "Bearer fs-token"
        ? { body: { code: 0, msg: "success", data: person } }
        : { status: 400, body: { code: 20_005, msg: "The user access token is wrong." } };
    const { own } = await signIn("feishu");
    expect(own).toMatchObject({ email: "fei@mill.test", name: "Fei" });
    // The enterprise sets no address here, and anybody may name one of their own: it opens nobody's account.
    person = { open_id: "ou-2", name: "Eve", email: "gus@mill.test" };
    expect((await signIn("feishu")).location).toMatch(/^\/auth\?error=/);
    feishu.answers["/open-apis/authen/v1/user_info"] = () => ({ body: { code: 99_991_668, msg: "No." } });
    expect((await signIn("feishu")).location).toBe("/auth?error=provider");
  });
});
