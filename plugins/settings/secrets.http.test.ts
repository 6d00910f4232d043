import { randomBytes } from "node:crypto";
import type { Kysely } from "kysely";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { CoreTables } from "#storage/core-tables.ts";
import { prepareTestDataDir, type TestDataDir } from "#storage/testing.ts";
import { type App, startApp } from "#test/support/app.ts";

const providerKeys = ["sk-first-provider-secret", "sk-second-provider-secret"];
const headerSecret = "Bearer header-secret";
const connections = {
  OPENAI_API_BASE_URLS: "http://127.0.0.1:9/a;http://127.0.0.1:9/b",
  OPENAI_API_KEYS: providerKeys.join(";"),
  OPENAI_API_CONFIGS: JSON.stringify({
    0: { enable: false, prefix_id: "one", headers: { "X-Auth": headerSecret } },
    1: { enable: false, key: "sk-own-secret" },
  }),
  OLLAMA_BASE_URLS: "http://127.0.0.1:9/c",
  OLLAMA_API_CONFIGS: JSON.stringify({ 0: { enable: false, key: "sk-runtime-secret" } }),
};
const secrets = [...providerKeys, headerSecret, "sk-own-secret", "sk-runtime-secret"];
const newKey = () => randomBytes(24).toString("hex");

let place: TestDataDir;
let app: App;
let token: string;
const secretKey = newKey();

beforeAll(async () => {
  place = await prepareTestDataDir();
});
afterAll(async () => {
  await app?.close();
  await place.remove();
});

async function restart(env: Record<string, string>): Promise<void> {
  await app?.close();
  app = await startApp({ env: { ...env, ...place.env } });
  const account = { name: "Ann", email: "ann@example.test", password: "Correct-horse-1" };
  const answers = [
    await app.call("POST /api/v1/auths/signup", { body: account }),
    await app.call("POST /api/v1/auths/signin", { body: account }),
  ];
  token = answers.find(({ status }) => status === 200)?.body.token;
}

async function readRows(): Promise<string> {
  const db = app.running.database.db as Kysely<CoreTables>;
  return JSON.stringify(await db.selectFrom("config").selectAll().execute());
}

async function settingOf(name: string): Promise<Record<string, unknown>> {
  const { body } = await app.call("GET /api/v1/configs/settings", { token });
  return (body as { name: string }[]).find((setting) => setting.name === name) as never;
}

describe("secrets of stored settings", () => {
  it("are stored as they are beside a generated key, and the settings say so", async () => {
    await restart(connections);
    expect(await readRows()).toContain(providerKeys[0]);
    const notices = [expect.stringContaining("WEBUI_SECRET_KEY is not set")];
    expect(await settingOf("OPENAI_API_KEYS")).toMatchObject({ encrypted: false, notices, enter_again: [] });
    expect(await settingOf("WEBUI_SECRET_KEY")).toMatchObject({ encrypted: null, notices });
    expect(await settingOf("OPENAI_API_BASE_URLS")).toMatchObject({ encrypted: null, notices: [] });
  });

  it("are encrypted once the environment gives a key, with their author and time kept", async () => {
    const before = await settingOf("OPENAI_API_KEYS");
    await restart({ WEBUI_SECRET_KEY: secretKey });
    const rows = await readRows();
    for (const secret of secrets) {
      expect(rows).not.toContain(secret);
    }
    // What is no secret stays readable.
    expect(rows).toContain("prefix_id");
    const setting = await settingOf("OPENAI_API_KEYS");
    expect(setting).toMatchObject({ encrypted: true, notices: [], changed_at: before["changed_at"] });
    expect(app.running.registry.valueOf("OPENAI_API_KEYS")).toEqual(providerKeys);
    expect(await settingOf("WEBUI_SECRET_KEY")).toMatchObject({ notices: [] });
  });

  it("are encrypted when they are saved, each with a nonce of its own", async () => {
    const body = { OPENAI_API_KEYS: ["sk-same-secret", "sk-same-secret"] };
    await app.call("POST /api/v1/configs/settings", { token, body });
    expect(app.running.registry.valueOf("OPENAI_API_KEYS")).toEqual(body.OPENAI_API_KEYS);
    const rows = await readRows();
    expect(rows).not.toContain("sk-same-secret");
    expect(new Set(rows.match(/sealed:v1:[\w-]+/g)).size).toBe(5);
  });

  it("never leave the server in full", async () => {
    for (const route of [
      "GET /api/v1/configs/settings",
      "GET /api/v1/configs/export",
      "GET /api/v1/configs/namespace/openai",
      "GET /compat/config",
      "GET /runtime/config",
    ]) {
      const answer = await app.call(route, { token });
      expect(answer.status).toBe(200);
      for (const text of [...secrets, "sk-same-secret", "sealed:v1:", secretKey]) {
        expect(answer.text).not.toContain(text);
      }
    }
  });

  it("are empty after a change of the key, and the settings name each to enter again", async () => {
    await restart({ ...connections, WEBUI_SECRET_KEY: newKey() });
    expect(app.running.registry.valueOf("OPENAI_API_KEYS")).toEqual(["", ""]);
    expect(app.running.registry.valueOf("OPENAI_API_CONFIGS")).toEqual({
      0: { enable: false, prefix_id: "one", headers: { "X-Auth": "" } },
      1: { enable: false, key: "" },
    });
    expect(await settingOf("OPENAI_API_KEYS")).toMatchObject({
      enter_again: ["0", "1"],
      environment_differs: true,
      notices: [
        expect.stringContaining("has to be entered again (at 0, 1)"),
        expect.stringContaining("environment"),
      ],
    });
    expect(await settingOf("OPENAI_API_CONFIGS")).toMatchObject({
      enter_again: ["0.headers.X-Auth", "1.key"],
    });
  });

  it("are readable as they are entered again; the others come back with their key", async () => {
    const otherKey = newKey();
    await restart({ WEBUI_SECRET_KEY: otherKey });
    const body = { OPENAI_API_KEYS: ["sk-entered-again", ""] };
    await app.call("POST /api/v1/configs/settings", { token, body });
    expect(await settingOf("OPENAI_API_KEYS")).toMatchObject({ enter_again: ["1"] });
    await restart({ WEBUI_SECRET_KEY: otherKey });
    expect(app.running.registry.valueOf("OPENAI_API_KEYS")).toEqual(["sk-entered-again", ""]);
    await restart({ WEBUI_SECRET_KEY: secretKey });
    expect(app.running.registry.valueOf("OPENAI_API_KEYS")).toEqual(["", "sk-same-secret"]);
    expect(await settingOf("OPENAI_API_KEYS")).toMatchObject({ enter_again: ["0"] });
  });

  it("cannot be read without the key either", async () => {
    await restart({});
    expect(app.running.registry.valueOf("OPENAI_API_KEYS")).toEqual(["", ""]);
    expect(await settingOf("OPENAI_API_KEYS")).toMatchObject({ enter_again: ["0", "1"] });
  });
});
