import { describe, expect, it } from "vitest";
import { createRegistry } from "#config/registry.ts";
import { bool, text } from "#config/variable.ts";
import type { Principal } from "#kernel/access/principal.ts";
import { config } from "./config.ts";
import { createPublicConfig } from "./public-config.ts";
import type { ConfigPart } from "./service.ts";

const others = {
  channels: bool("ENABLE_CHANNELS", true, { text: "A feature of another plugin." }),
  drive: text("GOOGLE_DRIVE_API_KEY", "hidden", {
    secret: true,
    text: "A secret by mistake among the public fields.",
  }),
};

function open(parts: ConfigPart[] = []) {
  const configuration = createRegistry({}, { warn: () => undefined });
  configuration.declare("settings", config);
  configuration.declare("others", others);
  return createPublicConfig({
    configuration,
    name: "Name",
    version: "1.0.0",
    isEmpty: async () => false,
    suggestions: () => [],
    defaultPermissions: () => ({ chat: { edit: true } }),
    parts: () => parts,
  });
}

const member: Principal = {
  userId: "u",
  role: "user",
  name: "U",
  email: "u@example.com",
  groupIds: [],
  permissions: {},
  credential: "session",
  session: null,
};

describe("the public configuration", () => {
  it("shows a feature as soon as its variable exists, and off otherwise", async () => {
    const { features } = (await open()(member)) as { features: Record<string, unknown> };
    expect(features).toMatchObject({
      enable_channels: true,
      enable_calendar: false,
      folder_max_file_count: "",
    });
  });

  it("never shows a variable that is a secret", async () => {
    expect(JSON.stringify(await open()(member))).not.toContain("hidden");
  });

  it("takes what other plugins add, field by field and by caller", async () => {
    const part: ConfigPart = (caller) => ({
      oauth: { providers: { sso: "SSO" } },
      features: { x: caller !== undefined },
    });
    const visitor = await open([part])(undefined);
    expect(visitor).toMatchObject({
      oauth: { providers: { sso: "SSO" }, auto_redirect: false },
      features: { x: false },
    });
    expect(await open([part])(member)).toMatchObject({ features: { x: true, enable_channels: true } });
  });
});
