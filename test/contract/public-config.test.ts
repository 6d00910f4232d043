import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createClient } from "#plugins/web/kit/client.ts";
import type { Api } from "#plugins/catalogue.ts";
import { type App, startApp, type TestUser } from "#test/support/app.ts";

// ecosystem-shapes.md, /api/config.

let app: App;
let admin: TestUser;
let user: TestUser;

beforeAll(async () => {
  app = await startApp();
  admin = await app.admin();
  user = await app.user();
});

afterAll(() => app?.close());

const read = async (by?: TestUser) => {
  const client = createClient<Api>({ url: app.url, token: () => by?.token });
  // The answer grows with the plugins, so its type names no fields.
  // oxlint-disable-next-line typescript/no-explicit-any
  return (await client.call("GET /api/config")) as any;
};
const set = async (values: object) =>
  expect((await admin.call("POST /api/v1/configs/settings", values)).status).toBe(200);

it("tells visitors of translations and whether the build is slim", async () => {
  const config = await read();
  expect(config.i18n).toEqual({});
  expect(config.features.slim).toBe(false);
});

const later = [
  "enable_pyodide_file_persistence enable_direct_integrations enable_tools enable_tool_servers",
  "enable_terminal_servers enable_encrypted_channels enable_apps enable_tool_permissions enable_subagents",
].flatMap((names) => names.split(" "));

const present = [
  "enable_functions enable_title_generation enable_follow_up_generation enable_tags_generation",
].flatMap((names) => names.split(" "));

describe("the features of those who are signed in", () => {
  it.each(later)("%s is there, and off as long as nothing provides it", async (name) => {
    expect((await read(user)).features).toHaveProperty(name, false);
  });

  it.each(present)("%s is on", async (name) => {
    expect((await read(user)).features).toHaveProperty(name, true);
    expect((await read()).features).not.toHaveProperty(name);
  });

  it("follow their settings", async () => {
    await set({ ENABLE_TAGS_GENERATION: false });
    expect((await read(user)).features.enable_tags_generation).toBe(false);
    await set({ ENABLE_TAGS_GENERATION: true });
  });

  it("have no functions with ENABLE_PLUGINS=false", async () => {
    const plain = await startApp({ env: { ENABLE_PLUGINS: "false" } });
    try {
      const boss = await plain.admin();
      const { features } = (await boss.call("GET /api/config")).body;
      expect(features).toMatchObject({ enable_plugins: false, enable_functions: false });
    } finally {
      await plain.close();
    }
  });
});

describe("the fields of members", () => {
  it("are all there", async () => {
    const config = await read(user);
    expect(config).toMatchObject({ default_prompt_suggestions_i18n: {}, license_metadata: null });
    expect(config.audio.realtime).toEqual(expect.any(Object));
    expect(config.ui).toMatchObject({ default_interface_settings: {}, visibility: {} });
    expect(config.permissions.workspace.models_hidden).toBe(false);
    expect(config.permissions.features.encrypted_channels).toBe(false);
  });

  it("are texts where nothing is set", async () => {
    const config = await read(user);
    expect(config.code).toMatchObject({ engine: "pyodide", interpreter_engine: "pyodide", timeout: 60 });
    expect(config.audio.tts).toEqual({ engine: "", voice: "alloy", split_on: "punctuation" });
    expect(config.audio.stt.engine).toBe("");
    expect(config.google_drive).toEqual({ client_id: "", api_key: "" });
    expect(config.onedrive).toEqual({
      client_id_personal: "",
      client_id_business: "",
      sharepoint_url: "",
      sharepoint_tenant_id: "",
    });
    expect(config.ui.iframe_csp).toBe("");
    expect(config.features).toMatchObject({ folder_max_file_count: "", web_search_confirmation_content: "" });
  });

  it("are null where no model is chosen", async () => {
    expect(await read(user)).toMatchObject({ default_models: null, default_pinned_models: null });
    await set({ DEFAULT_MODELS: "a,b", FOLDER_MAX_FILE_COUNT: 7 });
    const config = await read(user);
    expect([config.default_models, config.features.folder_max_file_count]).toEqual(["a,b", 7]);
  });

  it("start people's interface settings", async () => {
    await set({ DEFAULT_INTERFACE_SETTINGS: { widescreenMode: true } });
    expect((await read(user)).ui.default_interface_settings).toEqual({ widescreenMode: true });
    expect(await read()).not.toHaveProperty("ui");
  });
});
