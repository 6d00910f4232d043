import { expect, test } from "vitest";
import { createRegistry } from "#config/registry.ts";
import { mfaVariables } from "./config.ts";

const read = (roles: string) =>
  createRegistry({ MFA_REQUIRED_ROLES: roles }).declare("mfa", mfaVariables).roles;

test.each([
  ["none", []],
  [" None ", []],
  ["admin", ["admin"]],
  ["user, admin", ["user", "admin"]],
])("MFA_REQUIRED_ROLES=%s is read", (text, roles) => {
  expect(read(text)).toEqual(roles);
});

test("other roles, and none beside one, are refused in words", () => {
  expect(() => read("guest")).toThrow("MFA_REQUIRED_ROLES may name user and admin, or be none.");
  expect(() => read("none,admin")).toThrow("MFA_REQUIRED_ROLES may name user and admin, or be none.");
});
