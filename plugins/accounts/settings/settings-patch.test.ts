import { describe, expect, it } from "vitest";
import type { PermissionTree } from "#kernel/access/permissions.ts";
import type { Principal } from "#kernel/access/principal.ts";
import { toSettingsPatch, withDefaults } from "./settings-patch.ts";

function caller(permissions: PermissionTree, role: Principal["role"] = "user"): Principal {
  return {
    userId: "u",
    role,
    name: "U",
    email: "u@example.com",
    groupIds: [],
    permissions,
    credential: "session",
    session: null,
  };
}

const plain = caller({ settings: { interface: true } });

describe("a settings patch", () => {
  it("sets what was sent and clears what was sent as null", () => {
    const patch = toSettingsPatch(plain, { theme: "dark", models: null, params: {}, off: false, empty: "" });
    expect(patch).toEqual({ set: { theme: "dark", params: {}, off: false, empty: "" }, clear: ["models"] });
  });

  it("ignores fields whose permission the caller lacks", () => {
    const ui = {
      toolServers: [{ url: "http://10.0.0.1" }],
      notifications: { webhook_url: "http://x" },
      theme: "dark",
    };
    expect(toSettingsPatch(plain, ui)).toEqual({ set: { theme: "dark" }, clear: [] });
    const holder = caller({
      settings: { interface: true },
      features: { direct_tool_servers: true, webhooks: true },
    });
    expect(toSettingsPatch(holder, ui).set).toEqual(ui);
    expect(toSettingsPatch(caller({}, "admin"), ui).set).toEqual(ui);
  });

  it("is refused without settings.interface, but not for admins", () => {
    expect(() => toSettingsPatch(caller({}), {})).toThrowError(
      expect.objectContaining({ code: "forbidden" }),
    );
    expect(toSettingsPatch(caller({}, "admin"), {})).toEqual({ set: {}, clear: [] });
  });
});

it.each([
  [null, { ui: { a: 1 }, own: [] }],
  [{}, { ui: { a: 1 }, own: [] }],
  [
    { ui: { a: 2, b: 3 }, variables: { x: "y" } },
    { ui: { a: 2, b: 3 }, own: ["a", "b"] },
  ],
  [{ ui: { a: 1 } }, { ui: { a: 1 }, own: ["a"] }],
  [{ ui: [] }, { ui: { a: 1 }, own: [] }],
])("shows %j over the instance's defaults", (stored, shown) => {
  expect(withDefaults(stored, { a: 1 })).toEqual(shown);
});
