import type { Page } from "playwright-core";
import type { State } from "./state.ts";

const search = async (page: Page, words: string) => {
  await page.goto("/admin/settings");
  await page.getByRole("searchbox", { name: "Search all settings" }).fill(words);
};

/** What administrators see of settings and of what was done. */
export const settingsStates: readonly State[] = [
  {
    name: "admin-settings",
    looks: ["desk-light", "desk-dark", "phone-light", "phone-dark"],
    show: (page) => page.goto("/admin/settings?of=Accounts"),
  },
  {
    name: "admin-settings-search",
    show: async (page) => {
      await search(page, "model list");
      await page.getByText(/settings? found/).waitFor();
    },
  },
  {
    name: "admin-settings-source",
    show: async (page) => {
      await page.goto("/admin/settings?of=Accounts");
      await page
        .getByRole("button", { name: /where the value of Enable sign/i })
        .or(page.getByRole("button", { name: /where the value of/ }))
        .first()
        .click();
      await page.getByRole("region", { name: "History" }).waitFor();
    },
  },
  {
    name: "admin-settings-review",
    looks: ["desk-dark", "phone-light"],
    show: async (page) => {
      await search(page, "default locale");
      await page.locator('[data-variable="DEFAULT_LOCALE"]').getByRole("textbox").fill("de-CH");
      await page.getByRole("searchbox", { name: "Search all settings" }).fill("WEBUI_BANNERS");
      await page.locator('[data-variable="WEBUI_BANNERS"]').getByRole("textbox").fill('[{"id": }]');
      await page.getByRole("button", { name: "Review" }).click();
    },
  },
  {
    name: "admin-settings-import",
    show: async (page) => {
      await page.goto("/admin/settings?view=transfer");
      const config = { "ui.default_locale": "it", "ui.enable_signup": "perhaps", "no.such.key": 1 };
      const buffer = Buffer.from(JSON.stringify(config));
      await page
        .getByLabel("File of settings")
        .setInputFiles({ name: "settings.json", mimeType: "application/json", buffer });
      await page.getByText("Refused").first().waitFor();
    },
  },
  {
    name: "admin-announcements",
    looks: ["desk-light", "desk-dark", "phone-light", "phone-dark"],
    show: async (page) => {
      await page.goto("/admin/announcements");
      await page.getByRole("button", { name: "Add an announcement" }).click();
      const first = page.getByRole("region", { name: "Announcement 1" });
      await first.getByRole("textbox", { name: "Title" }).fill("Maintenance on Sunday");
      await first
        .getByRole("textbox", { name: "Text" })
        .fill("From **8 to 9** the server is away. [What changes](https://example.org)");
    },
  },
  {
    name: "admin-audit",
    looks: ["desk-light", "desk-dark", "phone-light"],
    show: async (page) => {
      for (const [name, value] of [
        ["RESPONSE_WATERMARK", "Written by a model"],
        ["ENABLE_MESSAGE_RATING", false],
      ]) {
        const changes = [{ name, value }];
        await page.request.patch("/api/v1/configs/settings", { data: { changes } });
      }
      await page.goto("/admin/audit");
      await page
        .getByRole("list", { name: "Records" })
        .getByRole("button", { expanded: false })
        .first()
        .click();
    },
  },
];
