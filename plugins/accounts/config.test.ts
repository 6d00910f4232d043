import { expect, it } from "vitest";
import { createRegistry } from "#config/registry.ts";
import { config } from "./config.ts";

const open = (environment: Record<string, string>) => createRegistry(environment).declare("accounts", config);

it.each([
  [{ WEBUI_ADMIN_EMAIL: "root" }, "WEBUI_ADMIN_EMAIL must be an e-mail address"],
  [{ WEBUI_ADMIN_EMAIL: "root@" }, "WEBUI_ADMIN_EMAIL must be an e-mail address"],
  [{ WEBUI_ADMIN_PASSWORD: "7 signs" }, "WEBUI_ADMIN_PASSWORD must have at least 8 characters"],
  [
    { PROFILE_IMAGE_ALLOWED_MIME_TYPES: "image/png,gif" },
    'types of images such as image/png, which "gif" is not',
  ],
])("%j refuses the start", (environment, message) => {
  expect(() => open(environment)).toThrow(message);
});

it("takes an address and a password that is long enough, and none of either", () => {
  const environment = { WEBUI_ADMIN_EMAIL: " Root@Example.test ", WEBUI_ADMIN_PASSWORD: "8 signs!" };
  expect(open(environment).adminEmail).toBe(" Root@Example.test ");
  expect(open({ WEBUI_ADMIN_EMAIL: "", WEBUI_ADMIN_PASSWORD: "" }).adminPassword).toBe("");
});
