import { expect, it } from "vitest";
import { createRegistry } from "#config/registry.ts";
import { mergeGroups } from "#kernel/access/permissions.ts";
import { config as variables } from "../config.ts";
import { createPermissionDefaults, platformPermissions, toEnvironmentDefaults } from "./permissions.ts";

function defaultsOf(environment: Record<string, string>, stored = {}) {
  const config = createRegistry(environment).declare("accounts", variables);
  return createPermissionDefaults({
    declared: () => [...platformPermissions, { path: "features.telescope", default: true }],
    environment: () => toEnvironmentDefaults(config),
    stored: () => stored,
  });
}

it("holds the whole tree with its built-in values", () => {
  const tree = defaultsOf({}).builtIn();
  expect(
    Object.fromEntries(Object.entries(tree).map(([section, keys]) => [section, Object.keys(keys).length])),
  ).toEqual({
    workspace: 14,
    sharing: 17,
    access_grants: 2,
    chat: 21,
    features: 14,
    settings: 1,
  });
  const allowed = Object.entries(tree).flatMap(([section, keys]) =>
    Object.entries(keys).flatMap(([key, value]) => (value ? [`${section}.${key}`] : [])),
  );
  expect(allowed.filter((path) => /^(workspace|sharing)\./.test(path))).toEqual([]);
  expect(allowed).toContain("settings.interface");
  expect(tree["chat"]?.["temporary_enforced"]).toBe(false);
  expect(tree["features"]?.["api_keys"]).toBe(false);
});

it("names no permission twice", () => {
  const paths = platformPermissions.map(({ path }) => path);
  expect(new Set(paths).size).toBe(paths.length);
});

it("takes the environment over the built-in, the stored tree over both, and keeps what plugins declare", () => {
  const environment = {
    USER_PERMISSIONS_FEATURES_API_KEYS: "true",
    USER_PERMISSIONS_CHAT_SYSTEM_PROMPT: "false",
  };
  const defaults = defaultsOf(environment, { chat: { system_prompt: true } });
  expect(defaults.builtIn()["features"]?.["api_keys"]).toBe(true);
  expect(defaults.builtIn()["chat"]?.["system_prompt"]).toBe(false);
  expect(defaults.current()["chat"]?.["system_prompt"]).toBe(true);
  expect(defaults.current()["chat"]?.["delete"]).toBe(true);
  expect(defaults.current()["features"]?.["telescope"]).toBe(true);
});

it("lets groups add, and never take away", () => {
  const tree = mergeGroups(defaultsOf({}).current(), [
    { features: { notes: false, api_keys: true } },
    { features: { api_keys: false } },
  ]);
  expect(tree["features"]?.["notes"]).toBe(true);
  expect(tree["features"]?.["api_keys"]).toBe(true);
});
