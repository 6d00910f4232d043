import { randomBytes, randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { databaseUrl } from "./core-database.ts";
import { core, displayName } from "./core.ts";
import { deployment } from "./deployment.ts";
import { createRegistry } from "./registry.ts";

const open = (environment: Record<string, string> = {}) => createRegistry(environment).declare("core", core);

test("defaults are those of the specification", () => {
  expect(open()).toMatchObject({
    env: "dev",
    port: 8080,
    host: "127.0.0.1",
    name: "Millrace",
    customName: null,
    deploymentId: "",
    webuiUrl: "",
    dataDir: "./data",
    forwardedAllowIps: ["*"],
    corsAllowOrigin: ["*"],
    compression: true,
    fastJson: true,
    persistentConfig: true,
    oauthPersistentConfig: false,
    resetConfigOnStart: false,
    clientTimeout: null,
    streamIdleTimeout: null,
    modelListTimeout: 10,
    commonModelListTimeout: null,
    toolServerTimeout: null,
    sessionSsl: true,
    sslCertFile: "",
    allowRedirects: false,
    sslAssertFingerprint: "",
    schedulerPollInterval: 10,
    bypassModelAccessControl: false,
    buildHash: "dev-build",
    licenseKey: null,
    licensePublicKey: "",
    useCudaDocker: false,
    useSlimDocker: false,
    docker: false,
    useCuda: false,
    requestBodyMaxBytes: 67_108_864,
    shutdownGraceSeconds: 30,
  });
});

test("no two variables of the core share a name", () => {
  const names = Object.values(core).map((variable) => variable.name);
  expect(new Set(names).size).toBe(names.length);
});

test("the instance id is a random UUID per start unless it is named", () => {
  expect(open().instanceId).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4/);
  expect(open().instanceId).not.toBe(open().instanceId);
  expect(open({ INSTANCE_ID: "a1" }).instanceId).toBe("a1");
});

test("the license file lies in the data folder", () => {
  expect(open().licenseBlobPath).toBe("data/l.data");
  expect(open({ DATA_DIR: "/srv/data" }).licenseBlobPath).toBe("/srv/data/l.data");
  expect(open({ DATA_DIR: "/srv/data", LICENSE_BLOB_PATH: "/l" }).licenseBlobPath).toBe("/l");
});

test("CUSTOM_NAME sets the name that users see", () => {
  expect(displayName(open())).toBe("Millrace");
  expect(displayName(open({ WEBUI_NAME: "Chat" }))).toBe("Chat");
  expect(displayName(open({ WEBUI_NAME: "Chat", CUSTOM_NAME: "Ours" }))).toBe("Ours");
});

test.each([
  ["t0p-s3cr3t", "WEBUI_SECRET_KEY is a well-known value"],
  ["changeme", "WEBUI_SECRET_KEY is a well-known value"],
  ["changeme-changeme-changeme", "WEBUI_SECRET_KEY is a well-known value"],
  ["Change_Me_1234567890", "WEBUI_SECRET_KEY is a well-known value"],
  ["your-secret-key-here", "WEBUI_SECRET_KEY is a well-known value"],
  ["0123456789abcde", "WEBUI_SECRET_KEY is shorter than 16 characters"],
  ["0123456789abcdef", "WEBUI_SECRET_KEY is easy to guess"],
  ["aaaaaaaaaaaaaaaaaaaaaaaa", "WEBUI_SECRET_KEY is easy to guess"],
  ["hunter2hunter2hunter2", "WEBUI_SECRET_KEY is easy to guess"],
  ["banana banana apple apple", "WEBUI_SECRET_KEY is easy to guess"],
  ["my-super-secret-jwt-token", "WEBUI_SECRET_KEY is easy to guess"],
  ["password-password-12345", "WEBUI_SECRET_KEY is easy to guess"],
  ["abababababcdcdcdcdcd", "WEBUI_SECRET_KEY is easy to guess"],
])("the secret key %j refuses the start", (key, message) => {
  expect(() => open({ WEBUI_SECRET_KEY: key })).toThrow(message);
});

test("a secret key may be left out or be long enough", () => {
  expect(open({ WEBUI_SECRET_KEY: "" }).secretKey).toBe(null);
  const fine = [
    ...Array.from({ length: 200 }, () => randomBytes(8).toString("hex")),
    ...Array.from({ length: 200 }, () => randomBytes(12).toString("base64")),
    ...Array.from({ length: 200 }, () => randomUUID()),
    "correct horse battery staple",
  ];
  expect(fine.map((key) => open({ WEBUI_SECRET_KEY: key }).secretKey)).toEqual(fine);
});

test("an allowed private origin needs its scheme", () => {
  expect(() => open({ EGRESS_ALLOWED_PRIVATE_ORIGINS: "http://10.0.0.5:8000,10.0.0.6:80" })).toThrow(
    /^EGRESS_ALLOWED_PRIVATE_ORIGINS must list origins with their scheme.*"10.0.0.6:80" is not\.$/,
  );
});

test.each([
  [{ WEBUI_URL: "chat.example" }, "WEBUI_URL must be a full address that begins with http:// or https://."],
  [{ SSL_ASSERT_FINGERPRINT: "ab:cd" }, "SSL_ASSERT_FINGERPRINT must be 40 (SHA-1) or 64 (SHA-256)"],
])("%j refuses the start", (environment, message) => {
  expect(() => open(environment)).toThrow(message);
});

test("a fingerprint is taken with colons and without, and an address with its path", () => {
  const digits = "AB".repeat(32);
  for (const given of [digits, digits.replaceAll(/(..)(?=.)/g, "$1:"), "ab".repeat(20)]) {
    expect(open({ SSL_ASSERT_FINGERPRINT: given }).sslAssertFingerprint).toBe(given);
  }
  expect(open({ WEBUI_URL: "https://host.example/chat/" }).webuiUrl).toBe("https://host.example/chat/");
});

test("a device that the environment names is warned about, for the process finds it out", () => {
  const warnings: string[] = [];
  createRegistry({ DEVICE_TYPE: "cuda" }, { warn: (message) => warnings.push(message) }).declare(
    "core",
    core,
  );
  expect(warnings).toEqual(["DEVICE_TYPE has no effect: the process finds it out itself."]);
});

describe("the database", () => {
  const parts = { DATABASE_HOST: "db", DATABASE_USER: "u", DATABASE_NAME: "chat" };
  test.each<[Record<string, string>, string | null]>([
    [{}, null],
    [{ DATABASE_URL: "" }, null],
    [{ DATABASE_URL: "postgres://u:p@db/chat" }, "postgresql://u:p@db/chat"],
    [
      { DATABASE_URL: "postgresql+psycopg2://u:p@db:5433/chat?sslmode=require" },
      "postgresql://u:p@db:5433/chat?sslmode=require",
    ],
    [parts, "postgresql://u@db:5432/chat"],
    [
      { ...parts, DATABASE_TYPE: "postgresql", DATABASE_PASSWORD: "p@ss/word", DATABASE_PORT: "5433" },
      "postgresql://u:p%40ss%2Fword@db:5433/chat",
    ],
    [{ ...parts, DATABASE_HOST: "fd00::1" }, "postgresql://u@[fd00::1]:5432/chat"],
    [{ ...parts, DATABASE_URL: "postgresql://other/chat" }, "postgresql://other/chat"],
  ])("%j is %j", (environment, url) => {
    expect(databaseUrl(open(environment))).toBe(url);
  });

  test.each<[Record<string, string>, RegExp]>([
    [
      { DATABASE_URL: "sqlite:///data/webui.db" },
      /^DATABASE_URL names an SQLite file, which is not supported/,
    ],
    [{ DATABASE_URL: "mysql://u:hunter2@db/chat" }, /^(?!.*hunter2)DATABASE_URL must name a Postgres server/],
    [{ DATABASE_URL: "db:5432" }, /^DATABASE_URL must name a Postgres server/],
    [{ ...parts, DATABASE_TYPE: "sqlite" }, /^DATABASE_TYPE names an SQLite file/],
    [{ DATABASE_HOST: "db", DATABASE_USER: "u" }, /^DATABASE_NAME is needed beside DATABASE_HOST/],
    [{ DATABASE_HOST: "db", DATABASE_NAME: "chat" }, /^DATABASE_USER is needed beside DATABASE_HOST/],
  ])("%j is refused", (environment, message) => {
    expect(() => databaseUrl(open(environment))).toThrow(message);
  });
});

test("plugins are left out by id", () => {
  const config = createRegistry({ PLUGINS_DISABLED: "gateway, scim" }).declare("deployment", deployment);
  expect({ ...config }).toEqual({ pluginsDisabled: ["gateway", "scim"], pluginsPath: null });
});
