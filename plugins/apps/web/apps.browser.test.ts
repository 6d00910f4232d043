import type { Page } from "playwright-core";
import { beforeEach, describe, expect, it } from "vitest";
import { channelClient } from "#plugins/channels/channels.fixture.ts";
import { type App, startApp, type TestUser } from "#test/support/app.ts";
import { describeInterface } from "#test/support/describe-interface.ts";
import { write } from "#test/support/hands.ts";
import { expectNoAxeFindings } from "#test/support/interface.ts";
import { type Receiver, startReceiver } from "#test/support/receiver.ts";

describe.each(["desk", "phone"] as const)("apps on a %s", (size) =>
  describeInterface("in the interface", ({ setUp, openPage }) => {
    let app: App;
    let admin: TestUser;
    let page: Page;
    let receiver: Receiver;

    setUp(async (keep) => {
      receiver = await keep(startReceiver());
      app = await keep(
        startApp({
          env: { ENABLE_CHANNELS: "true", ENABLE_APPS: "true", APP_ALLOWED_PRIVATE_ORIGINS: receiver.url },
        }),
      );
      admin = await app.admin();
    });
    beforeEach(async () => {
      ({ page } = await openPage({ url: app.url, token: admin.token, path: "/admin/apps", size }));
    });

    it("are registered, tested, and added to a channel, where they are marked", async () => {
      await page.getByText("There is no app yet.").waitFor();
      await expectNoAxeFindings(page);
      await page.getByRole("button", { name: "Register an app" }).click();
      const dialog = page.getByRole("dialog");
      await write(dialog.getByLabel("Name"), "Ferry");
      await write(dialog.getByLabel("Address for events"), `${receiver.url}/ferry`);
      await dialog.getByLabel("app.mentioned").click();
      await expectNoAxeFindings(page);
      await dialog.getByRole("button", { name: "Register", exact: true }).click();
      await page.getByText("Copy them now").waitFor();
      const key = (await page.getByText(/^sk-app-[0-9a-f]{64}$/).textContent()) ?? "";
      await page.getByRole("button", { name: "Actions for “Ferry”" }).click();
      await page.getByRole("menuitem", { name: "Send a test" }).click();
      await page.getByText("The test has arrived.").waitFor();
      expect(receiver.received.map(({ body }) => body.event)).toEqual(["app.test"]);
      await expectNoAxeFindings(page);

      const boss = channelClient(app, admin);
      const channel = await boss.make({ name: "harbour", type: "group", user_ids: [] });
      await page.goto(`${app.url}/channels/${channel}`);
      await page.getByRole("button", { name: "Members and settings" }).click();
      await page.getByRole("tab", { name: "Apps" }).click();
      await page.getByRole("button", { name: "Add Ferry" }).click();
      await page.getByRole("list", { name: "Apps of this channel" }).getByText("Ferry").waitFor();
      await expectNoAxeFindings(page);
      const posted = await app.call(`POST /api/v1/channels/${channel}/messages/post`, {
        token: key,
        body: { content: "The boat leaves at nine." },
      });
      expect(posted.status).toBe(200);
      await page.keyboard.press("Escape");
      const message = page.getByRole("article").filter({ hasText: "The boat leaves at nine." });
      await message.getByText("App", { exact: true }).waitFor();
      await expectNoAxeFindings(page);
    });
  }),
);
