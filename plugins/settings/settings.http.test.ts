import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type App, startApp, type TestUser } from "#test/support/app.ts";

let app: App;
let admin: TestUser;
let user: TestUser;
let beforeAnybody: Record<string, unknown>;

const signingSecret = "a-signing-secret-that-nobody-sees";
const providerSecret = "sk-provider-secret-that-nobody-sees";

beforeAll(async () => {
  app = await startApp({
    env: {
      DEPLOYMENT_ID: "blue",
      WEBUI_NAME: "Test <House>",
      WEBUI_ADMIN_NAME: "Operator",
      WEBUI_SECRET_KEY: signingSecret,
      OPENAI_API_KEYS: providerSecret,
    },
  });
  beforeAnybody = (await app.call("GET /api/config")).body;
  admin = await app.admin();
  user = await app.user();
});

afterAll(() => app?.close());

const settingOf = async (name: string) => {
  const { body } = await admin.call("GET /api/v1/configs/settings");
  return (body as { name: string }[]).find((setting) => setting.name === name) as
    | Record<string, unknown>
    | undefined;
};

describe("what everybody may ask", () => {
  it.each(["GET /health", "GET /health/db", "GET /ready"])("%s answers", async (route) => {
    const answer = await app.call(route);
    expect([answer.status, answer.body]).toEqual([200, { status: true }]);
  });

  it("names version and deployment", async () => {
    expect((await app.call("GET /api/version")).body).toEqual({
      version: expect.any(String),
      deployment_id: "blue",
      build_hash: "dev-build",
    });
    const updates = await user.call("GET /api/version/updates");
    expect(updates.body.latest).toBe(updates.body.current);
    expect((await app.call("GET /api/version/updates")).status).toBe(401);
  });

  it("reads the changelog", async () => {
    const { body } = await app.call("GET /api/changelog");
    const [release] = Object.values(body as Record<string, { added: { content: string }[] }>);
    expect(release?.added[0]?.content.length).toBeGreaterThan(5);
  });

  it("describes the app to browsers, with its name made safe", async () => {
    const manifest = await app.call("GET /manifest.json");
    expect(manifest.headers.get("content-type")).toMatch(/^application\/manifest\+json/);
    expect(manifest.body).toMatchObject({ name: "Test <House>", start_url: "/" });
    const search = await app.call("GET /opensearch.xml");
    expect(search.headers.get("content-type")).toMatch(/^application\/opensearchdescription\+xml/);
    expect(search.text).toContain("<ShortName>Test &lt;House&gt;</ShortName>");
    expect(search.text).toContain(`template="${app.url}/?q={searchTerms}"`);
  });
});

describe("GET /api/config", () => {
  it("tells visitors little, and of onboarding only while nobody is there", async () => {
    expect(beforeAnybody).toMatchObject({
      status: true,
      name: "Test <House>",
      onboarding: true,
      password_hint: "",
      // That of the first administrator is for people with an account.
      contact_email: "",
    });
    const { body } = await app.call("GET /api/config");
    expect(body).not.toHaveProperty("onboarding");
    expect(body.features).toMatchObject({
      auth: true,
      enable_signup: true,
      enable_login_form: true,
      enable_ldap: false,
    });
    expect(body.features).not.toHaveProperty("enable_api_keys");
    for (const field of ["permissions", "ui", "default_prompt_suggestions", "file", "code"]) {
      expect(body).not.toHaveProperty(field);
    }
  });

  it("tells a pending account the overlay alone", async () => {
    const pending = await app.user("pending");
    const { body } = await pending.call("GET /api/config");
    expect(body.features).toMatchObject({
      enable_api_keys: true,
      enable_easter_eggs: true,
      enable_channels: false,
    });
    expect(body.ui).toEqual({ pending_user_overlay_title: "", pending_user_overlay_content: "" });
    expect(body).not.toHaveProperty("permissions");
  });

  it("tells members the rest", async () => {
    const { body } = await user.call("GET /api/config");
    expect(body.permissions.settings).toEqual({ interface: true });
    expect(body.default_prompt_suggestions.length).toBeGreaterThan(0);
    expect(body.ui).toMatchObject({ response_watermark: "" });
    expect(body.features.folder_max_file_count).toBe("");
  });

  it("ignores a bad token", async () => {
    const answer = await app.call("GET /api/config", { token: "nonsense" });
    expect([answer.status, "ui" in answer.body]).toEqual([200, false]);
  });
});

describe("settings", () => {
  it("show where a value comes from, who changed it, and go back", async () => {
    expect(await settingOf("DEFAULT_LOCALE")).toMatchObject({
      value: "",
      source: "default",
      changed_by: null,
    });
    expect((await admin.call("POST /api/v1/configs/settings", { DEFAULT_LOCALE: "de-CH" })).status).toBe(200);
    const changed = { value: "de-CH", source: "stored", changed_by: admin.id, changed_by_name: admin.name };
    expect(await settingOf("DEFAULT_LOCALE")).toMatchObject(changed);
    expect((await app.call("GET /api/config")).body.default_locale).toBe("de-CH");
    const reset = await admin.call("DELETE /api/v1/configs/settings/DEFAULT_LOCALE");
    expect(reset.body).toMatchObject({ name: "DEFAULT_LOCALE", value: "", source: "default" });
    expect((await admin.call("DELETE /api/v1/configs/settings/NOTHING")).status).toBe(404);
  });

  it("refuse a wrong value, an unknown name and a start-up variable by name, and change nothing", async () => {
    const cases = { ENABLE_SIGNUP: "perhaps", NO_SUCH_THING: true, WEBUI_ADMIN_NAME: "x" };
    for (const [name, value] of Object.entries(cases)) {
      const body = { DEFAULT_LOCALE: "fr", [name]: value };
      const answer = await admin.call("POST /api/v1/configs/settings", body);
      expect([answer.status, answer.body.detail[0].loc]).toEqual([422, ["body", name]]);
    }
    expect(await settingOf("DEFAULT_LOCALE")).toMatchObject({ source: "default" });
    expect(await settingOf("WEBUI_ADMIN_NAME")).toMatchObject({ read_only: true, source: "environment" });
  });

  it("never show a secret, in lists and exports alike", async () => {
    const list = await admin.call("GET /api/v1/configs/settings");
    const exported = await admin.call("GET /api/v1/configs/export");
    for (const name of ["WEBUI_SECRET_KEY", "OPENAI_API_KEYS"]) {
      expect(await settingOf(name)).toMatchObject({
        secret: true,
        value: "********",
        source: expect.any(String),
      });
    }
    for (const secret of [signingSecret, providerSecret]) {
      expect(list.text + exported.text).not.toContain(secret);
    }
  });

  it.each([
    "GET /api/v1/configs/settings",
    "POST /api/v1/configs/settings",
    "DELETE /api/v1/configs/settings/DEFAULT_LOCALE",
    "GET /api/v1/configs/export",
    "POST /api/v1/configs/import",
    "GET /api/v1/configs/namespace/ui",
    "POST /api/v1/configs/banners",
    "POST /api/v1/configs/suggestions",
  ])("%s is for admins alone", async (route) => {
    expect((await app.call(route, { body: route.startsWith("POST") ? {} : undefined })).status).toBe(401);
    expect((await user.call(route, route.startsWith("POST") ? {} : undefined)).status).toBe(403);
  });
});

describe("export and import", () => {
  it("carry settings by key, flat or nested, and name what nothing here knows", async () => {
    const config = { "ui.default_locale": "it", ui: { watermark: "w" }, "no.such.key": 1 };
    expect((await admin.call("POST /api/v1/configs/import", { config })).body).toEqual({
      imported: ["ui.default_locale", "ui.watermark"],
      ignored: ["no.such.key"],
    });
    expect((await admin.call("GET /api/v1/configs/export")).body).toMatchObject({
      "ui.default_locale": "it",
      "ui.watermark": "w",
      "ui.enable_signup": true,
    });
    const ui = await admin.call("GET /api/v1/configs/namespace/ui");
    expect(ui.body["ui.watermark"]).toBe("w");
    expect(Object.keys(ui.body).every((key) => key.startsWith("ui."))).toBe(true);
  });

  it("refuse a wrong value as a whole", async () => {
    const config = { "ui.default_locale": "es", "ui.enable_signup": "perhaps" };
    expect((await admin.call("POST /api/v1/configs/import", { config })).status).toBe(422);
    expect((await settingOf("DEFAULT_LOCALE"))?.["value"]).toBe("it");
  });
});

it("an export of this instance can be taken in again: what is read-only and the same is no refusal", async () => {
  const post = (path: string, config: unknown) => admin.call(`POST /api/v1/configs/${path}`, { config });
  const { body: config } = await admin.call("GET /api/v1/configs/export");
  expect(Object.keys(config)).toContain("oauth.enable");
  expect((await post("import/preview", config)).body).toMatchObject({
    changes: [],
    refused: [],
    ignored: [],
  });
  expect((await post("import", config)).status).toBe(200);
  const other = { "oauth.enable": !config["oauth.enable"] };
  expect((await post("import/preview", other)).body.refused).toHaveLength(1);
  expect((await post("import", other)).status).toBe(422);
});

describe("banners and suggestions", () => {
  const banner = { id: "b", type: "info", title: "", content: "Hello", dismissible: true, timestamp: 1 };

  it("are set by admins and seen by users", async () => {
    expect((await admin.call("POST /api/v1/configs/banners", { banners: [banner] })).body).toEqual([banner]);
    expect((await user.call("GET /api/v1/configs/banners")).body).toEqual([banner]);
    expect((await app.call("GET /api/v1/configs/banners")).status).toBe(401);
    const wrong = { banners: [{ ...banner, type: "loud" }] };
    expect((await admin.call("POST /api/v1/configs/banners", wrong)).status).toBe(422);
  });

  it("tell no suggestions from none set", async () => {
    const post = async (suggestions: unknown) =>
      await admin.call("POST /api/v1/configs/suggestions", { suggestions });
    const shown = async () => (await user.call("GET /api/config")).body.default_prompt_suggestions;
    await post([]);
    expect(await shown()).toEqual([]);
    const own = [{ title: ["One", "two"], content: "three" }];
    await post(own);
    expect(await shown()).toEqual(own);
    await post(null);
    expect((await shown()).length).toBeGreaterThan(1);
    expect((await post([{ title: ["one"], content: "" }])).status).toBe(422);
  });
});
