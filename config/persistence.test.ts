import { describe, expect, test } from "vitest";
import { z } from "zod";
import { createMemoryStore } from "./memory-store.fixture.ts";
import { createRegistry } from "./registry.ts";
import { bool, duration, int, json } from "./variable.ts";

const facts = { text: "A variable" };
const variables = {
  signup: bool("ENABLE_SIGNUP", true, { ...facts, key: "ui.enable_signup", persisted: true }),
  expiry: duration("JWT_EXPIRES_IN", "4w", { ...facts, key: "auth.jwt_expiry", persisted: true }),
  metadata: json(
    "DEFAULT_MODEL_METADATA",
    {},
    {
      ...facts,
      key: "models.default_metadata",
      persisted: true,
      schema: z.record(z.string(), z.unknown()),
      whenInvalid: {},
    },
  ),
  oauthSignup: bool("ENABLE_OAUTH_SIGNUP", false, {
    ...facts,
    key: "oauth.enable_signup",
    persisted: true,
    oauth: true,
  }),
  poll: int("TIMER_POLL_INTERVAL", 1, facts),
};

async function start(environment: Record<string, string>, rows: Record<string, unknown> = {}) {
  const memory = createMemoryStore(rows);
  const warnings: string[] = [];
  const registry = createRegistry(environment, { warn: (message) => warnings.push(message) });
  const config = registry.declare("accounts", variables);
  await registry.attach(memory.store);
  const sourceOf = (name: string) => registry.describe().find((setting) => setting.name === name)?.source;
  return { ...memory, registry, config, warnings, sourceOf };
}

describe("a persisted switch that is on by default", () => {
  const row = "ui.enable_signup";
  const off = { [row]: false };
  const unpersisted = { ENABLE_PERSISTENT_CONFIG: "False" };
  test.each<
    [string, Record<string, string>, Record<string, unknown>, boolean, string, Record<string, unknown>]
  >([
    // case, environment, rows before, value, source, rows after
    ["nothing said", {}, {}, true, "default", {}],
    ["first launch", { ENABLE_SIGNUP: "False" }, {}, false, "stored", off],
    ["first launch saying the default", { ENABLE_SIGNUP: "True" }, {}, true, "stored", { [row]: true }],
    ["first launch with an empty value", { ENABLE_SIGNUP: "" }, {}, true, "default", {}],
    ["stored wins over the environment", { ENABLE_SIGNUP: "True" }, off, false, "stored", off],
    ["stored wins over the default", {}, off, false, "stored", off],
    ["a stored row of the wrong shape", {}, { [row]: "maybe" }, true, "default", { [row]: "maybe" }],
    [
      "a stored row of the wrong shape, environment set",
      { ENABLE_SIGNUP: "False" },
      { [row]: [1] },
      false,
      "environment",
      { [row]: [1] },
    ],
    ["persistence off", { ...unpersisted, ENABLE_SIGNUP: "True" }, off, true, "environment", off],
    ["persistence off, default", { ENABLE_PERSISTENT_CONFIG: "false" }, off, true, "default", off],
    [
      "persistence off writes nothing",
      { ENABLE_PERSISTENT_CONFIG: "0", ENABLE_SIGNUP: "False" },
      {},
      false,
      "environment",
      {},
    ],
    ["reset", { RESET_CONFIG_ON_START: "true" }, { ...off, "other.key": 1 }, true, "default", {}],
    [
      "reset to the environment",
      { RESET_CONFIG_ON_START: "True", ENABLE_SIGNUP: "False" },
      { [row]: true },
      false,
      "stored",
      off,
    ],
    [
      "reset with persistence off",
      { ...unpersisted, RESET_CONFIG_ON_START: "True" },
      off,
      true,
      "default",
      {},
    ],
  ])("%s", async (_case, environment, rows, value, source, after) => {
    const { config, sourceOf, stored } = await start(environment, rows);
    expect(config.signup).toBe(value);
    expect(sourceOf("ENABLE_SIGNUP")).toBe(source);
    expect(stored()).toEqual(after);
  });
});

describe("an OAuth setting", () => {
  const row = "oauth.enable_signup";
  test.each<[string, Record<string, string>, Record<string, unknown>, boolean, boolean]>([
    // case, environment, rows, value, read-only
    ["by default comes from the environment", { ENABLE_OAUTH_SIGNUP: "True" }, { [row]: false }, true, true],
    ["by default passes a stored row over", {}, { [row]: true }, false, true],
    ["is stored when asked for", { ENABLE_OAUTH_PERSISTENT_CONFIG: "True" }, { [row]: true }, true, false],
    [
      "stays read-only with persistence off",
      { ENABLE_PERSISTENT_CONFIG: "False", ENABLE_OAUTH_SIGNUP: "True" },
      {},
      true,
      true,
    ],
    [
      "changes for the session with persistence off for all others too",
      { ENABLE_PERSISTENT_CONFIG: "False", ENABLE_OAUTH_PERSISTENT_CONFIG: "True" },
      { [row]: true },
      false,
      false,
    ],
  ])("%s", async (_case, environment, rows, value, readOnly) => {
    const { config, registry, stored } = await start(environment, rows);
    expect(config.oauthSignup).toBe(value);
    expect(registry.byKey(row)?.readOnly).toBe(readOnly);
    const change = registry.set({ ENABLE_OAUTH_SIGNUP: !value }, "admin");
    if (readOnly) {
      await expect(change).rejects.toThrow(
        "ENABLE_OAUTH_SIGNUP is read-only while ENABLE_OAUTH_PERSISTENT_CONFIG is off.",
      );
      expect(stored()).toEqual(rows);
    }
    await change.catch(() => {});
    expect(config.oauthSignup).toBe(readOnly ? value : !value);
  });

  test("is not written on the first launch", async () => {
    const { stored } = await start({ ENABLE_OAUTH_SIGNUP: "True" });
    expect(stored()).toEqual({});
  });
});

test("the second start follows what the first one stored and what an admin changed", async () => {
  const first = await start({ ENABLE_SIGNUP: "False", JWT_EXPIRES_IN: "1h" });
  expect(first.stored()).toEqual({ "ui.enable_signup": false, "auth.jwt_expiry": "1h" });
  expect(first.saved).toEqual([{ keys: ["ui.enable_signup", "auth.jwt_expiry"], by: null }]);
  await first.registry.set({ JWT_EXPIRES_IN: "2h" }, "admin-1");

  const second = await start({ ENABLE_SIGNUP: "True", JWT_EXPIRES_IN: "9h" }, first.stored());
  expect(second.config.signup).toBe(false);
  expect(second.config.expiry).toEqual({ text: "2h", ms: 7_200_000 });
  expect(second.saved).toEqual([]);
});

test("a substitute of a wrong value is not stored", async () => {
  const { config, stored, warnings } = await start({ DEFAULT_MODEL_METADATA: "{oops" });
  expect(config.metadata).toEqual({});
  expect(stored()).toEqual({});
  expect(warnings).toEqual(["DEFAULT_MODEL_METADATA must be valid JSON; {} is used instead."]);
});

test("a start-up variable never follows a stored row", async () => {
  const { config, registry } = await start({ TIMER_POLL_INTERVAL: "3" });
  await expect(registry.set({ TIMER_POLL_INTERVAL: 5 }, "admin")).rejects.toThrow(
    "TIMER_POLL_INTERVAL is read from the environment at the start and cannot be changed while running.",
  );
  expect(config.poll).toBe(3);
});

test("with persistence off a change lasts for the session only", async () => {
  const { config, registry, stored } = await start({ ENABLE_PERSISTENT_CONFIG: "False" });
  const heard: string[][] = [];
  registry.onChange((names) => heard.push(names));
  await registry.set({ ENABLE_SIGNUP: false }, "admin");
  expect(config.signup).toBe(false);
  expect(registry.byKey("ui.enable_signup")).toMatchObject({
    changedBy: "admin",
    changedAt: expect.any(Number),
  });
  await registry.refresh();
  expect(config.signup).toBe(false);
  await registry.reset(["ENABLE_SIGNUP"], "admin");
  expect(config.signup).toBe(true);
  expect(registry.byKey("ui.enable_signup")).toMatchObject({ changedBy: null, changedAt: null });
  expect(heard).toEqual([["ENABLE_SIGNUP"], ["ENABLE_SIGNUP"]]);
  expect(stored()).toEqual({});
});
