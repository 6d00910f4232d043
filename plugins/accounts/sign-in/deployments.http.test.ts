import { afterEach, expect, it } from "vitest";
import { prepareTestDataDir } from "#storage/testing.ts";
import { type App, startApp } from "#test/support/app.ts";
import { isJustNow } from "#test/support/clock/now.ts";

const open: App[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((app) => app.close()));
});

async function start(env: Record<string, string>): Promise<App> {
  const app = await startApp({ env });
  open.push(app);
  return app;
}

const somebody = { name: "X", email: "x@example.test", password: "Correct-horse-1" };

it("creates the admin of the environment, who signs in while sign-up is off", async () => {
  const app = await start({
    WEBUI_ADMIN_EMAIL: "Root@Example.test",
    WEBUI_ADMIN_PASSWORD: "from-the-environment",
  });
  const body = { email: "root@example.test", password: "from-the-environment" };
  const session = await app.call("POST /api/v1/auths/signin", { body });
  expect(session.body).toMatchObject({ role: "admin", email: "root@example.test", name: "Admin" });
  expect((await app.call("POST /api/v1/auths/signup", { body: somebody })).status).toBe(403);
  const { token } = session.body;
  await app.call("POST /api/v1/auths/admin/config", { token, body: { ENABLE_SIGNUP: true } });
  expect((await app.call("POST /api/v1/auths/signup", { body: somebody })).body.role).toBe("pending");
});

it(
  "keeps sign-up closed beside that admin at later starts, where settings are not stored",
  { timeout: 120_000 },
  async () => {
    const env = {
      WEBUI_ADMIN_EMAIL: "root@example.test",
      WEBUI_ADMIN_PASSWORD: "from-the-environment",
      ENABLE_PERSISTENT_CONFIG: "false",
    };
    const place = await prepareTestDataDir();
    const signUpAt = async (more: Record<string, string>, email: string) => {
      const app = await startApp({ env: { ...env, ...place.env, ...more } });
      const { status } = await app.call("POST /api/v1/auths/signup", { body: { ...somebody, email } });
      await app.close();
      return status;
    };
    expect(await signUpAt({}, "first@example.test")).toBe(403);
    expect(await signUpAt({}, "a@example.test")).toBe(403);
    // What the operator says holds.
    expect(await signUpAt({ ENABLE_SIGNUP: "true" }, "b@example.test")).toBe(200);
    await place.remove();
  },
);

it("refuses local sign-up and password sign-in where others sign people in", async () => {
  const app = await start({
    ENABLE_LOGIN_FORM: "false",
    ENABLE_PASSWORD_AUTH: "false",
    ENABLE_INITIAL_ADMIN_SIGNUP: "true",
  });
  const { body: admin } = await app.call("POST /api/v1/auths/signup", { body: somebody });
  expect(admin.role).toBe("admin");
  expect((await app.call("POST /api/v1/auths/signin", { body: somebody })).status).toBe(403);
  // A link to choose a password would lead nowhere, and the pages offer none.
  const { token } = admin;
  const invited = await app.call("POST /api/v1/users/invitations", { token, body: { user_ids: [admin.id] } });
  expect(invited.status).toBe(403);
  const { body: config } = await app.call("GET /api/config", { token });
  expect(config.features.enable_password_auth).toBe(false);
  const next = { ...somebody, email: "y@example.test" };
  expect((await app.call("POST /api/v1/auths/signup", { body: next })).status).toBe(403);
});

it("lets keys reach the listed endpoints alone, under the renamed header", async () => {
  const app = await start({
    ENABLE_API_KEYS_ENDPOINT_RESTRICTIONS: "true",
    API_KEYS_ALLOWED_ENDPOINTS: "/api/v1/auths",
    CUSTOM_API_KEY_HEADER: "X-My-Key",
  });
  const admin = await app.admin();
  const key = (await admin.call("POST /api/v1/auths/api_key")).body.api_key;
  const headers = { "x-my-key": key };
  expect((await app.call("GET /api/v1/auths/", { headers })).status).toBe(200);
  expect((await app.call("GET /api/v1/auths/api_key", { headers })).status).toBe(200);
  for (const path of ["/api/v1/users/all", "/api/v1/auths/../users/all", "/api/v1/auths/%2e%2e/users/all"]) {
    expect((await app.call(`GET ${path}`, { headers })).status).toBe(403);
  }
  expect((await admin.call("GET /api/v1/users/all")).status).toBe(200);
  expect((await app.call("GET /api/v1/auths/", { headers: { "x-api-key": key } })).status).toBe(401);
});

it("ends sessions after their lifetime, and asks passwords for what the rule wants", async () => {
  const rule = {
    ENABLE_PASSWORD_VALIDATION: "true",
    PASSWORD_VALIDATION_HINT: "Use all kinds of characters.",
  };
  const app = await start({ JWT_EXPIRES_IN: "1d12h", ...rule });
  const weak = await app.call("POST /api/v1/auths/signup", { body: { ...somebody, password: "weakpass" } });
  expect(weak.status).toBe(400);
  expect(weak.body).toEqual({ detail: "Use all kinds of characters." });
  const { body } = await app.call("POST /api/v1/auths/signup", { body: somebody });
  expect(isJustNow(body.expires_at - 36 * 3600)).toBe(true);
});

it("asks for no account when told so", async () => {
  const app = await start({ WEBUI_AUTH: "false" });
  const session = await app.call("POST /api/v1/auths/signin", { body: { email: "", password: "" } });
  expect(session.body).toMatchObject({ role: "admin", email: "admin@localhost" });
  expect((await app.call("POST /api/v1/auths/signup", { body: somebody })).status).toBe(403);
});

it("refuses pictures beyond PROFILE_IMAGE_MAX_DATA_URI_SIZE, and strangers' requests that could only hold such", async () => {
  const app = await start({ PROFILE_IMAGE_MAX_DATA_URI_SIZE: "1000" });
  const signUp = async (length: number) => {
    const profile_image_url = `data:image/png;base64,iVBORw0KGgo${"A".repeat(length + 1)}`;
    const body = { ...somebody, profile_image_url };
    return (await app.call("POST /api/v1/auths/signup", { body })).status;
  };
  expect(await signUp(20_000)).toBe(413);
  expect(await signUp(1000)).toBe(413);
  expect(await signUp(900)).toBe(200);
});
